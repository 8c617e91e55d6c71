package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// setting is one line of git's configuration as it applies to a folder.
type setting struct{ scope, key, value string }

// settings lists the configuration, without our own overrides.
func (g *Git) settings(ctx context.Context, dir string) ([]setting, error) {
	c := call{dir: dir, args: []string{"config", "--list", "--show-scope", "-z"}, read: true, plain: true}
	out, err := g.run(ctx, c)
	if err != nil {
		return nil, g.explain(dir, err)
	}
	var list []setting
	fields := strings.Split(string(out.Stdout), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		if fields[i] != "command" {
			list = append(list, setting{fields[i], key, value})
		}
	}
	return list, nil
}

// silenced is a filter that does not run in a checkout, and why.
type silenced struct{ name, why string }

// silence decides which filters stay off: those that the policy excludes, and those whose program is
// not on this machine, which would make git refuse the whole checkout.
func (g *Git) silence(list []setting, policy Filters) []silenced {
	programs, local := map[string]string{}, map[string]bool{}
	var names []string
	for _, s := range list {
		section, rest, _ := strings.Cut(s.key, ".")
		dot := strings.LastIndexByte(rest, '.')
		if section != "filter" || dot < 0 {
			continue
		}
		name, key := rest[:dot], rest[dot+1:]
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if s.scope == "local" || s.scope == "worktree" {
			local[name] = true
			if policy == FiltersUser {
				continue // namedOverrides puts the user's own value back
			}
		}
		if (key == "process" || key == "smudge") && s.value != "" {
			if programs[name] == "" || key == "process" {
				programs[name] = s.value
			}
		}
	}
	var off []silenced
	for _, name := range names {
		program := programs[name]
		switch {
		case policy == FiltersNone:
			off = append(off, silenced{name, "filters are switched off"})
		case program == "" && policy == FiltersUser && local[name]:
			off = append(off, silenced{name, "only the repository's own configuration names its program"})
		case program != "" && !g.canRun(program):
			off = append(off, silenced{name, fmt.Sprintf("%s is not installed", firstWord(program))})
		}
	}
	return off
}

func firstWord(command string) string { return strings.Trim(strings.Fields(command + " x")[0], `'"`) }

// canRun reports whether a shell command's program is there; true when that is hard to tell.
func (g *Git) canRun(command string) bool {
	word := firstWord(command)
	if strings.ContainsAny(word, "$`~=(){};&|<>*?\\'\"") {
		return true
	}
	if strings.Contains(word, "/") {
		return !filepath.IsAbs(word) || exists(word)
	}
	for _, pair := range g.env {
		path, ok := strings.CutPrefix(pair, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			if info, err := os.Stat(filepath.Join(dir, word)); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
				return true
			}
		}
	}
	// What only a shell or git itself knows.
	return slices.Contains([]string{"cat", "exec", "test", "true", "false", "git", "sh", "set", "if", "while", "."}, word)
}

func off(list []silenced) [][2]string {
	var config [][2]string
	for _, s := range list {
		for _, key := range []string{"process", "smudge", "clean"} {
			config = append(config, [2]string{"filter." + s.name + "." + key, ""})
		}
		config = append(config, [2]string{"filter." + s.name + ".required", "false"})
	}
	return config
}

// checkout writes the files of HEAD into a fresh worktree. A filter that fails does not fail the
// checkout: its files keep their stored form, and a warning says so.
func (g *Git) checkout(ctx context.Context, p *treePlan) error {
	list, err := g.settings(ctx, p.Dir)
	if err != nil {
		return err
	}
	quiet := g.silence(list, p.Filters)
	p.Progress("Writing files")
	err = g.writeFiles(ctx, p, p.Filters, off(quiet), "--reset", "HEAD")
	var failed *Error
	if errors.As(err, &failed) && p.Filters != FiltersNone {
		all := g.silence(list, FiltersNone)
		for i := range all {
			all[i].why = "it failed"
			for _, q := range quiet {
				if q.name == all[i].name {
					all[i].why = q.why
				}
			}
		}
		if len(all) > len(quiet) {
			quiet = all
			err = g.writeFiles(ctx, p, FiltersNone, off(quiet), "--reset", "HEAD")
		}
	}
	if err != nil {
		return g.explainCheckout(list, err)
	}
	g.warnFilters(ctx, p, list, quiet)
	return nil
}

// writeFiles runs read-tree, which writes the files of a tree and the index. Git LFS takes what is on
// this machine and leaves pointers for the rest, since nothing here may wait for a network.
func (g *Git) writeFiles(ctx context.Context, p *treePlan, filters Filters, config [][2]string, args ...string) error {
	_, err := g.run(ctx, call{
		dir: p.Dir, args: append([]string{"read-tree", "-u", "-v"}, args...), offline: true,
		filters: filters, config: config,
		env:    []string{"GIT_LFS_SKIP_SMUDGE=1"},
		stderr: &progressLines{to: p.Progress},
	})
	return err
}

func (g *Git) explainCheckout(list []setting, err error) error {
	for _, s := range list {
		if strings.HasPrefix(s.key, "remote.") && strings.HasSuffix(s.key, ".promisor") && s.value != "false" {
			return fmt.Errorf("%w: %w", ErrPartial, err)
		}
	}
	return err
}

// ErrPartial says that a partial clone lacks the files of a commit, which only its remote has.
var ErrPartial = errors.New("the files of this commit are not on this machine (partial clone); check the commit out once in the main checkout")

// warnFilters says which files did not get their content.
func (g *Git) warnFilters(ctx context.Context, p *treePlan, list []setting, quiet []silenced) {
	for _, q := range quiet {
		if n := len(g.managed(ctx, p.Dir, q.name)); n > 0 {
			p.warn("The filter %q did not run on %s: %s. They hold their stored form.", q.name, count(n, "file"), q.why)
		}
	}
	if slices.ContainsFunc(quiet, func(q silenced) bool { return q.name == "lfs" }) {
		return
	}
	if !slices.ContainsFunc(list, func(s setting) bool { return strings.HasPrefix(s.key, "filter.lfs.") }) {
		return
	}
	pointers := 0
	for _, path := range g.managed(ctx, p.Dir, "lfs") {
		if isPointer(filepath.Join(p.Dir, path)) {
			pointers++
		}
	}
	if pointers > 0 {
		p.warn("%s of Git LFS are not on this machine, pointers stand for them. Fetch them with: git lfs pull", count(pointers, "file"))
	}
}

// managed lists the tracked files that attributes give to a filter.
func (g *Git) managed(ctx context.Context, dir, filter string) []string {
	if strings.ContainsAny(filter, " ,)\\\"'") {
		return nil // pathspec magic has no way to say it
	}
	out, err := g.Read(ctx, dir, "ls-files", "-z", "--", ":(attr:filter="+filter+")")
	if err != nil || len(out.Stdout) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out.Stdout), "\x00"), "\x00")
}

func isPointer(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1024 {
		return false
	}
	text, err := readFile(path)
	return err == nil && strings.HasPrefix(string(text), "version https://git-lfs.github.com/")
}

func (p *treePlan) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// progressLines passes on git's progress, which ends its lines with CR or LF.
type progressLines struct {
	to   func(string)
	part []byte
}

func (l *progressLines) Write(b []byte) (int, error) {
	for _, c := range b {
		if c != '\r' && c != '\n' {
			if len(l.part) < 512 {
				l.part = append(l.part, c)
			}
			continue
		}
		if line := strings.TrimSpace(string(l.part)); line != "" {
			l.to(strings.ToValidUTF8(line, "?"))
		}
		l.part = l.part[:0]
	}
	return len(b), nil
}
