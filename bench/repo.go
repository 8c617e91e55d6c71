package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
)

// size says how large a repository is.
type size struct{ files, folders int }

// large is the repository of the workspaces: 20,000 files in 2,000 folders.
var large = size{20_000, 2_000}

// repo makes a repository with one commit and the files checked out. Its files are lines of words,
// 200 bytes to 8 KB long, the same in each run.
func (b *bench) repo(ctx context.Context, dir string, s size) error {
	if err := b.do(ctx, b.dir, "git", "init", "-q", "-b", "main", dir); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Env = dir, b.env()
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = errors.Join(writeHistory(in, s), in.Close())
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return fmt.Errorf("import the files of %q: %w: %s", dir, err, said.String())
	}
	return b.do(ctx, dir, "git", "reset", "-q", "--hard", "main")
}

func writeHistory(to io.Writer, s size) error {
	w := bufio.NewWriter(to) // it keeps the first error for Flush
	dice := rand.New(rand.NewPCG(1, 2))
	_, _ = fmt.Fprintf(w, "commit refs/heads/main\ncommitter Bench <bench@bench.invalid> 1700000000 +0000\ndata 5\nfiles\n")
	for i := range s.files {
		text := words(dice, 200+dice.IntN(1<<dice.IntN(13)+1))
		_, _ = fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", fileName(i, s), len(text), text)
	}
	return w.Flush()
}

func fileName(i int, s size) string {
	if i < 10 {
		return fmt.Sprintf("file-%d.txt", i)
	}
	folder := i % s.folders
	return fmt.Sprintf("part-%02d/folder-%04d/file-%05d.txt", folder%40, folder, i)
}

var vocabulary = strings.Fields(`desk agent tree branch merge commit review window stream record
	queue model prompt answer tool file line patch index state`)

func words(dice *rand.Rand, n int) string {
	var t strings.Builder
	for t.Len() < n {
		t.WriteString(vocabulary[dice.IntN(len(vocabulary))])
		t.WriteByte(" \n"[dice.IntN(10)/9])
	}
	return t.String()
}

// largeRepo makes the large repository once.
func (b *bench) largeRepo(ctx context.Context) (string, error) {
	if b.repoPath != "" {
		return b.repoPath, nil
	}
	dir := b.path("large")
	if err := b.repo(ctx, dir, large); err != nil {
		return "", err
	}
	b.repoPath = dir
	return dir, nil
}
