package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"carrel/store"
)

// soundSettings refuses settings that could not be read in whole: what they deny would be allowed. That holds
// until a file that was kept aside is moved back, replaced or deleted.
func soundSettings(root *store.Root) error {
	file := root.Path("settings.jsonc")
	for _, p := range root.Problems() {
		if strings.HasPrefix(p.Path, file) {
			return fmt.Errorf("read the settings of the sandbox: %s", p.Message)
		}
	}
	if _, err := os.Lstat(file); err == nil {
		return nil
	}
	kept, err := filepath.Glob(file + ".corrupt-*")
	if err != nil || len(kept) == 0 {
		return nil
	}
	return fmt.Errorf("read the settings of the sandbox: %q could not be read; mend it and move it back, or delete it", kept[len(kept)-1])
}
