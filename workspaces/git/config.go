package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Filters says which clean and smudge programs a checkout may run.
type Filters int

const (
	// FiltersUser runs the filters of the user's own configuration, not those that only the
	// repository's configuration names.
	FiltersUser Filters = iota
	// FiltersAll runs the repository's own filters too. Only for a repository that the user trusts.
	FiltersAll
	// FiltersNone runs none: files managed by a filter, such as Git LFS, hold what is stored for them.
	FiltersNone
)

// fixedConfig switches off what a repository's configuration could make git run, and what would make
// its output depend on the user's taste. It goes through the environment, where names may hold any
// character, and wins over every file.
func fixedConfig() [][2]string {
	return [][2]string{
		{"core.hooksPath", os.DevNull},
		{"core.fsmonitor", "false"},
		{"core.pager", "cat"},
		{"core.askPass", ""},
		{"core.alternateRefsCommand", "true"},
		{"core.quotePath", "false"},
		{"color.ui", "false"},
		{"log.showSignature", "false"},
		{"diff.autoRefreshIndex", "false"},
		{"gc.auto", "0"},
		{"maintenance.auto", "false"},
		{"submodule.recurse", "false"},
		{"protocol.ext.allow", "never"},
	}
}

func configEnv(config [][2]string) []string {
	env := make([]string, 0, 2*len(config)+1)
	for i, kv := range config {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+kv[0], "GIT_CONFIG_VALUE_"+n+"="+kv[1])
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(config)))
}

// plainDiff forbids the programs that attributes and configuration attach to diffs, for the commands
// that would run them.
func plainDiff(args []string) []string {
	if len(args) == 0 {
		return args
	}
	flags := []string{"--no-ext-diff", "--no-textconv"}
	switch args[0] {
	case "diff", "diff-index", "diff-files", "diff-tree", "log", "show", "whatchanged":
	case "blame", "annotate":
		flags = flags[1:]
	default:
		return args
	}
	return append(append([]string{args[0]}, flags...), args[1:]...)
}

// namedOverrides neutralises the programs that live under names which only the configuration knows:
// filter.NAME.* and merge.NAME.*. Git has no switch for them, so each name is overridden with what the
// user's own configuration says, or with nothing.
func (g *Git) namedOverrides(ctx context.Context, dir string, filters Filters) ([][2]string, error) {
	if filters == FiltersAll || filters == FiltersUser && namesNothing(dir) {
		return nil, nil
	}
	c := call{dir: dir, args: []string{"config", "--list", "--show-scope", "-z"}, plain: true}
	env, err := g.callEnv(ctx, c)
	if err != nil {
		return nil, err
	}
	out, err := g.exec(ctx, c, env)
	if err != nil {
		return nil, g.explain(dir, err)
	}
	return overrides(out.Stdout, filters), nil
}

// overrides reads the list of "scope NUL key LF value NUL".
func overrides(list []byte, filters Filters) [][2]string {
	own := map[string]string{} // by key: what the user's configuration says
	var names []string         // keys to override, in order
	seen := map[string]bool{}
	fields := strings.Split(string(list), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		scope := fields[i]
		key, value, hasValue := strings.Cut(fields[i+1], "\n")
		section, rest, _ := strings.Cut(key, ".")
		if section != "filter" && section != "merge" || !strings.Contains(rest, ".") {
			continue
		}
		if !hasValue {
			value = "true"
		}
		local := scope == "local" || scope == "worktree"
		if !local && scope != "command" {
			own[key] = value
		}
		if (local || filters == FiltersNone) && !seen[key] {
			seen[key] = true
			names = append(names, key)
		}
	}
	var config [][2]string
	for _, key := range names {
		value := own[key]
		if filters == FiltersNone {
			value = ""
		}
		if value == "" && strings.HasSuffix(key, ".required") {
			value = "false"
		}
		config = append(config, [2]string{key, value})
	}
	return config
}

// namesNothing reports, without a process, that the repository at dir itself surely names no filter or
// merge driver and includes no other file. When in doubt it says false.
func namesNothing(dir string) bool {
	gitDir, err := gitDirAt(dir)
	if err != nil {
		return false
	}
	common, err := commonDirOf(gitDir)
	if err != nil || !surelyGitDir(gitDir, common) {
		return false // git may walk up to another repository
	}
	for _, path := range []string{filepath.Join(common, "config"), filepath.Join(gitDir, "config.worktree")} {
		text, err := readFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return false
		}
		text = bytes.ToLower(text)
		for _, section := range []string{"[filter", "[merge", "[include"} {
			if bytes.Contains(text, []byte(section)) {
				return false
			}
		}
	}
	return true
}

// surelyGitDir reports whether git takes the folder for a repository, being stricter than git.
func surelyGitDir(gitDir, common string) bool {
	head, err := readFile(filepath.Join(gitDir, "HEAD"))
	if err != nil || !looksBare(common) {
		return false
	}
	text := strings.TrimRight(string(head), "\n")
	if ref, ok := strings.CutPrefix(text, "ref: refs/"); ok {
		return ref != "" && !strings.ContainsAny(ref, " \n\r\t\x00")
	}
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}
