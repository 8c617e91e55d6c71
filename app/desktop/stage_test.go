//go:build linux && desktop && window

package desktop

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"carrel/app/attach"
)

// found is the core's process, 0 while there is none.
func (s *stage) found() int {
	core, err := attach.Find(s.t.Context(), s.root)
	if err != nil {
		return 0
	}
	return core.PID
}

// click clicks on the first element whose text is this.
func (s *stage) click(text string) {
	s.t.Helper()
	s.eventually("there is "+strconv.Quote(text)+" to click on", func() bool {
		return s.ask(`(() => {
			const found = [...document.querySelectorAll("button, a, [role=treeitem], [role=option], li")]
				.find((e) => e.checkVisibility() && e.textContent.includes(`+strconv.Quote(text)+`));
			found?.click();
			return !!found;
		})()`) == "true"
	})
}

// without copies the binaries but one.
func without(t *testing.T, bin, name string) string {
	t.Helper()
	dir := t.TempDir()
	entries, err := os.ReadDir(bin)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == name {
			continue
		}
		if err := os.Link(filepath.Join(bin, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func coreProc(s *stage) string { return strconv.Itoa(s.core().PID) }

// faded waits until the window's own page, which comes in slowly, is there.
func (s *stage) faded() {
	s.t.Helper()
	s.eventually("the page has come in", func() bool { return s.ask(`getComputedStyle(document.querySelector("main")).opacity`) == `"1"` })
}
