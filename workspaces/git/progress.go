package git

import "path/filepath"

// progressOf names the operation that a checkout is in the middle of: "merge", "rebase",
// "cherry-pick", "revert" or "bisect"; "" for none.
func progressOf(gitDir string) string {
	for _, p := range []struct{ file, name string }{
		{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}, {"BISECT_LOG", "bisect"},
	} {
		if exists(filepath.Join(gitDir, p.file)) {
			return p.name
		}
	}
	return ""
}
