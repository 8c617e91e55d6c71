package git

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// pristineWait bounds the look at a checkout's files; a disk that takes longer has git wait for it,
// which can be ended.
const pristineWait = 5 * time.Second

// pristine finds out whether a checkout is certainly its commit and nothing else. It knows what git status
// would say in half its time, and only ever when that is nothing: where anything is out of the ordinary,
// such as a changed, added, ignored or lately written file, a submodule or an index of another form, it
// says no, and git must be asked. So it does where submodules have repositories that no index names.
//
// What it takes for proof is what git takes: an entry of the index whose stored times, size, mode, inode
// and owner are all those of the file, none of them as young as the index itself; an index whose stored
// tree is the commit's. Beyond git it wants every folder to hold exactly the names of the index.
//
// What it takes for HEAD is given at once; certain waits for the files.
func (g *Git) pristine(ctx context.Context, dir, gitDir string) (head status, certain func() bool) {
	no := func() bool { return false }
	branch, ok := headBranch(gitDir)
	if !ok || g.leftAlone(dir) || exists(filepath.Join(gitDir, modulesName)) {
		return status{}, no
	}
	found := make(chan string, 1)
	var stop atomic.Bool
	go func() { found <- wholeTree(dir, filepath.Join(gitDir, "index"), &stop) }()
	commit, tree := g.headTree(ctx, dir)
	if commit == "" {
		stop.Store(true)
		return status{}, no
	}
	return status{commit: commit, branch: branch}, func() bool {
		defer stop.Store(true)
		timer := time.NewTimer(pristineWait)
		defer timer.Stop()
		select {
		case have := <-found:
			now, ok := headBranch(gitDir)
			return have == tree && ok && now == branch
		case <-timer.C:
		case <-ctx.Done():
		}
		return false
	}
}

// headBranch reads the branch of a checkout, "" when it is detached. It is false when HEAD does not tell.
func headBranch(gitDir string) (string, bool) {
	text, err := readFile(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return "", false
	}
	head := strings.TrimSpace(string(text))
	if branch, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		return branch, !strings.HasPrefix(branch, ".") // a stub, where refs are kept in another form
	}
	return "", head != "" && strings.Trim(head, "0123456789abcdef") == ""
}

// headTree gives HEAD's commit and its tree, "" when there is none.
func (g *Git) headTree(ctx context.Context, dir string) (commit, tree string) {
	out, err := g.run(ctx, call{dir: dir, args: []string{"cat-file", "--batch-check=%(objecttype) %(objectname)"},
		read: true, stdin: strings.NewReader("HEAD\nHEAD^{tree}\n")})
	if err != nil {
		return "", ""
	}
	first, second, _ := strings.Cut(string(out.Stdout), "\n")
	commit, isCommit := strings.CutPrefix(first, "commit ")
	tree, isTree := strings.CutPrefix(strings.TrimSuffix(second, "\n"), "tree ")
	if !isCommit || !isTree {
		return "", ""
	}
	return commit, tree
}
