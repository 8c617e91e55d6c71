package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// setUp runs a copy of build/setup.sh on a machine that has the named packages, as the user with
// that id, and gives what it said, what it ran with apt-get, and whether it succeeded. Calls of
// sudo count as calls of apt-get, so that one shows.
func setUp(t *testing.T, uid, purpose, packages string) (said, ran string, ok bool) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the Debian half of the script; Linux machines run this")
	}
	dir := t.TempDir()
	script, err := os.ReadFile("build/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(dir, "ran")
	stubs := map[string]string{
		"build/setup.sh": string(script),
		"bin/id":         "#!/bin/sh\necho " + uid + "\n",
		"bin/apt-get":    "#!/bin/sh\necho \"$@\" >> " + record + "\n",
		"bin/sudo":       "#!/bin/sh\necho sudo \"$@\" >> " + record + "\n",
		"bin/apt-cache":  "#!/bin/sh\n[ \"$2\" != chromium-browser ]\n",
		"bin/dpkg-query": "#!/bin/sh\nfor last; do :; done\ncase ' " + packages + " ' in *\" $last \"*) echo installed ;; *) exit 1 ;; esac\n",
	}
	for name, text := range stubs {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(dir, "build/setup.sh"), purpose)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	calls, _ := os.ReadFile(record)
	return string(out), string(calls), err == nil
}

const runPackages = "gcc libc6-dev pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev"

func TestSetupPrintsTheCommandWhenNotRoot(t *testing.T) {
	said, ran, ok := setUp(t, "1000", "run", "gcc libc6-dev")
	if ok || ran != "" {
		t.Fatalf("went on (%v) and ran %q", ok, ran)
	}
	if !strings.Contains(said, "install -y --no-install-recommends pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev\n") {
		t.Fatalf("said %q", said)
	}
}

func TestSetupInstallsOnlyWhatIsMissing(t *testing.T) {
	said, ran, ok := setUp(t, "0", "run", "gcc libc6-dev pkg-config libgtk-3-dev")
	if want := "update -qq\ninstall -y -qq --no-install-recommends libwebkit2gtk-4.1-dev\n"; !ok || ran != want {
		t.Fatalf("ran %q, want %q (said %q)", ran, want, said)
	}
	if said, ran, ok = setUp(t, "1000", "run", runPackages); !ok || ran != "" || said != "" {
		t.Fatalf("with everything there: ran %q, said %q, %v", ran, said, ok)
	}
}

func TestSetupForTestsInstallsMoreThanForRunning(t *testing.T) {
	_, ran, ok := setUp(t, "0", "test", runPackages)
	if !ok || !strings.Contains(ran, " xvfb ") || strings.Contains(ran, "gtk") || strings.Contains(ran, "|") {
		t.Fatalf("ran %q, %v", ran, ok)
	}
}
