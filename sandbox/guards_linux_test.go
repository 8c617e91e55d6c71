package sandbox

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"carrel/sandbox/plan"
)

func TestReplacedGuardStopsTheCommand(t *testing.T) { // L126, L127
	for _, tier := range []plan.Tier{plan.TierA, plan.TierB} {
		for name, replace := range map[string]func(l *place) error{
			"a file by rename": func(l *place) error {
				if err := os.WriteFile(l.project+"/.git/config.lock", []byte("[user]\n"), 0o644); err != nil {
					return err
				}
				return os.Rename(l.project+"/.git/config.lock", l.project+"/.git/config")
			},
			"a folder by rename": func(l *place) error {
				if err := os.Rename(l.project+"/.git/hooks", l.project+"/.git/old"); err != nil {
					return err
				}
				return os.Mkdir(l.project+"/.git/hooks", 0o755)
			},
			"the folder around": func(l *place) error { return os.Rename(l.project+"/.git", l.project+"/.old") },
		} {
			t.Run(string(tier)+" "+name, func(t *testing.T) {
				l := open(t, tier, nil)
				in, feed := pipe(t)
				r := l.start(t, `read x; while :; do (echo pwn > .git/hooks/post-checkout; echo pwn >> .git/config) 2>/dev/null; done`,
					func(c *Command) { c.Stdin = in })
				_ = in.Close()
				if err := replace(l); err != nil {
					t.Fatal(err)
				}
				exit, err := r.Wait()
				_ = feed.Close()
				if err != nil || len(exit.Lost) == 0 || exit.Signal != syscall.SIGKILL {
					t.Errorf("%+v %v", exit, err)
				}
				// The next command is held again.
				if out, exit := l.sh(t, `echo fine`); out != "fine" || exit.Code != 0 {
					t.Errorf("%+v %q", exit, out)
				}
			})
		}
	}
}

func TestOrdinaryChangesStopNothing(t *testing.T) {
	l := open(t, plan.TierA, nil)
	in, feed := pipe(t)
	r := l.start(t, `echo x > .git/index.lock; mv .git/index.lock .git/index; mkdir d; rmdir d; touch ready; read x; echo $x`, func(c *Command) { c.Stdin = in })
	_ = in.Close()
	waitFor(t, "the command", func() bool { _, err := os.Lstat(l.project + "/ready"); return err == nil })
	writeFile(t, l.project+"/.git/index.lock", "host")
	if err := os.Rename(l.project+"/.git/index.lock", l.project+"/.git/index"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, l.project+"/new", "host")
	_, _ = io.WriteString(feed, "done\n")
	_ = feed.Close()
	exit, err := r.Wait()
	if err != nil || exit.Code != 0 || strings.TrimSpace(r.out()) != "done" || exit.Lost != nil {
		t.Errorf("%+v %v", exit, err)
	}
}

func TestHelperThatWaitsSeesWhatChanged(t *testing.T) {
	l := open(t, plan.TierA, nil)
	writeFile(t, l.home+"/.profile-of-a-tool", "one")
	l.sh(t, "true")
	if err := l.Warm(l.ctx, Command{Argv: []string{"true"}, Dir: l.project}); err != nil {
		t.Fatal(err)
	}
	writeFile(t, l.home+"/.next", "two")
	if err := os.Rename(l.home+"/.next", l.home+"/.profile-of-a-tool"); err != nil {
		t.Fatal(err)
	}
	if out, _ := l.sh(t, `cat ~/.profile-of-a-tool`); out != "two" {
		t.Errorf("%q", out)
	}
	if err := l.Warm(l.ctx, Command{Argv: []string{"true"}, Dir: l.project}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(l.project+"/vendor/sub/.git/hooks", 0o755); err != nil { // a guard more
		t.Fatal(err)
	}
	writeFile(t, l.project+"/vendor/sub/.git/HEAD", "ref: refs/heads/main\n")
	writeFile(t, l.project+"/vendor/sub/.git/config", "[core]\n")
	l.Forget()
	if out, _ := l.sh(t, `echo pwn > vendor/sub/.git/hooks/x && echo wrote`); strings.Contains(out, "wrote") {
		t.Errorf("%q", out)
	}
}

func TestFoldersThatStandInGoWithTheLastBox(t *testing.T) {
	first := open(t, plan.TierA, nil)
	p, err := first.Plan(Command{})
	if err != nil {
		t.Fatal(err)
	}
	var stand []string
	for _, s := range p.Prepare {
		if s.Stand {
			stand = append(stand, s.Path)
		}
	}
	if len(stand) < 2 {
		t.Fatalf("nothing stands in: %v", p.Prepare)
	}
	first.sh(t, "true")
	second, err := Open(t.Context(), first.config)
	if err != nil {
		t.Fatal(err)
	}
	proc, err := second.Start(first.ctx, Command{Argv: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proc.Wait(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, stand[0]+"/kept", "by the user")
	exists := func(name string) bool { _, err := os.Lstat(name); return err == nil }
	if err := first.Close(); err != nil || !exists(stand[0]) || !exists(stand[1]) {
		t.Fatalf("the first one took them away (%v)", err)
	}
	if err := second.Close(); err != nil || !exists(stand[0]) || exists(stand[1]) {
		t.Errorf("%v: %s is there: %v, %s is there: %v", err, stand[0], exists(stand[0]), stand[1], exists(stand[1]))
	}
}
