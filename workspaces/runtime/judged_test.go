package runtime_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"carrel/workspaces/runtime"
)

// judgedTree is a project with a file, a guarded folder and a link, and its files.
func judgedTree(t *testing.T) (string, runtime.Files) {
	t.Helper()
	rt := newLocal(t, runtime.Options{})
	dir := rt.Dir()
	for _, name := range []string{"open", "guarded"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "f"), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("open", filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	return dir, rt.Files()
}

func TestAJudgedCallUsesTheJudgedFileAlone(t *testing.T) {
	dir, files := judgedTree(t)
	ctx := runtime.Judged(context.Background(), filepath.Join(dir, "l", "f"), filepath.Join(dir, "open", "f"), filepath.Join(dir, "new", "g"))
	file, _, err := files.Open(ctx, "l/f")
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	for _, name := range []string{"l/f", "new/g"} {
		if err := files.Write(ctx, name, []byte("open"), runtime.WriteOptions{}); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("guarded", filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := files.Open(ctx, "l/f"); !errors.Is(err, runtime.ErrMoved) {
		t.Errorf("opened: %v", err)
	}
	if err := files.Write(ctx, "l/f", []byte("bad"), runtime.WriteOptions{}); !errors.Is(err, runtime.ErrMoved) {
		t.Errorf("written: %v", err)
	}
}

// A program of the agent's swaps a link as fast as it can, while a file tool uses it.
func TestALinkThatIsSwappedMeanwhileLeadsNowhereElse(t *testing.T) {
	dir, files := judgedTree(t)
	ctx := runtime.Judged(context.Background(), filepath.Join(dir, "l", "f"), filepath.Join(dir, "open", "f"))
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			to, temp := []string{"open", "guarded"}[i%2], filepath.Join(dir, "swap")
			_ = os.Remove(temp)
			if os.Symlink(to, temp) == nil {
				_ = os.Rename(temp, filepath.Join(dir, "l"))
			}
		}
	})
	for i := range 1000 {
		if file, _, err := files.Open(ctx, "l/f"); err == nil {
			text, err := io.ReadAll(file)
			if string(text) == "guarded" || err != nil {
				t.Errorf("read %q, %v", text, err)
			}
			_ = file.Close()
		}
		if i%20 == 0 { // a write takes its time, it waits for the disk
			_ = files.Write(ctx, "l/f", []byte("open"), runtime.WriteOptions{})
		}
	}
	close(stop)
	swapper.Wait()
	if text, err := os.ReadFile(filepath.Join(dir, "guarded", "f")); err != nil || string(text) != "guarded" {
		t.Errorf("the guarded file is %q, %v", text, err)
	}
}
