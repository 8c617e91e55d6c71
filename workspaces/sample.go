package workspaces

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// sampleFiles is a small project to try Carrel on.
//
//go:embed sample
var sampleFiles embed.FS

const (
	sampleFolder = "carrel-sample"
	maxSamples   = 20 // folders of that name that are tried
)

// AddSample makes a small repository, carrel-sample, in the folder parent and adds it as a project, so
// that there is something to try Carrel on. One that is a project already is given as it is; a folder of
// that name that is not ours is left alone, and the next name taken.
func (d *Desks) AddSample(ctx context.Context, parent string) (Project, error) {
	for i := 1; i <= maxSamples; i++ {
		dir := filepath.Join(parent, sampleFolder)
		if i > 1 {
			dir += "-" + strconv.Itoa(i)
		}
		known, err := d.sampleAt(ctx, dir)
		if err == nil {
			return known, nil
		}
		if !errors.Is(err, ErrNotFound) {
			return Project{}, err
		}
		if err := os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return Project{}, fmt.Errorf("make a sample project: %w", err)
		}
		if err := d.fillSample(ctx, dir); err != nil {
			return Project{}, errors.Join(fmt.Errorf("make a sample project in %q: %w", dir, err), os.RemoveAll(dir)) // made just now
		}
		return d.AddProject(ctx, dir, "Sample")
	}
	return Project{}, fmt.Errorf("make a sample project: %s and %d more folders of that name exist in %q", sampleFolder, maxSamples-1, parent)
}

// sampleAt is the project in the folder, or ErrNotFound.
func (d *Desks) sampleAt(ctx context.Context, dir string) (Project, error) {
	dir, err := canonical(dir)
	if err != nil {
		return Project{}, ErrNotFound // no such folder
	}
	p, err := d.projectAt(ctx, dir)
	if err == nil && inspectProject(p) != nil {
		return Project{}, ErrNotFound // moved or broken
	}
	return p, err
}

func (d *Desks) fillSample(ctx context.Context, dir string) error {
	files, err := fs.Sub(sampleFiles, "sample")
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", "--template="},
		{"add", "--all"},
		// Under its own name: this is not the person's work, and their name may not be known to git yet.
		{"-c", "user.name=Carrel", "-c", "user.email=carrel@localhost", "commit", "--quiet", "--no-gpg-sign", "--message=Begin the sample project"},
	} {
		if _, err := d.git.Run(ctx, dir, args...); err != nil {
			return err
		}
	}
	return nil
}
