//go:build unix

package store_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"carrel/store"
)

// inTime fails a test whose step hangs.
func inTime(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("it hangs")
	}
}

func TestSettingsThatAreNoFileOrAGiantAreRefused(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"a pipe":       func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device":     func(path string) error { return os.Symlink("/dev/zero", path) },
		"a folder":     func(path string) error { return os.Mkdir(path, 0o700) },
		"a giant":      func(path string) error { return errorsOf(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
		"deep nesting": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("[", 900<<10)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t)
			if err := plant(r.Path("providers.jsonc")); err != nil {
				t.Skip(err)
			}
			inTime(t, func() {
				if p, err := r.Providers(); err == nil && len(p) > 0 {
					t.Errorf("read %v", p)
				}
				_ = r.SetProvider("x", []string{"apiKey"}, "k")
			})
			if _, err := r.Settings(); err != nil {
				t.Errorf("the other file: %v", err)
			}
		})
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestARegistryThatIsTakenAwayWhileOpenIsReported(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"removed":  os.Remove,
		"replaced": func(path string) error { return errorsOf(os.Rename(path, path+".bak"), os.WriteFile(path, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t)
			addProject(t, db(t, r), "one")
			told := make(chan store.Problem, 10)
			r.OnProblem(func(p store.Problem) { told <- p })
			r.Changed(t.Context(), func() {})
			if err := take(r.Path("registry.db")); err != nil {
				t.Fatal(err)
			}
			select {
			case p := <-told:
				if p.Code != store.RegistryGone {
					t.Errorf("told %+v", p)
				}
			case <-time.After(60 * time.Second):
				t.Error("nobody was told")
			}
		})
	}
}
