package demo

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"carrel/agent/model"
)

// The steps of a turn, in order. A call's id holds the name of its step, so that the history says
// how far the turn is.
const (
	stepLook   = "look"
	stepSlow   = "slow"
	stepRead   = "read"
	stepEdit   = "edit"
	stepCheck  = "check"
	stepCommit = "commit"
)

// story is a turn so far, as the history tells it.
type story struct {
	turn    int    // from 1
	prompt  string // what the person asked
	tools   []string
	results map[string]model.Part // by step
	paths   map[string]string     // file that a step was about
	last    string                // latest step that has a result
}

func read(r *model.Request) *story {
	s := &story{}
	for _, t := range r.Tools {
		s.tools = append(s.tools, t.Name)
	}
	names := map[string]model.Part{}
	for _, m := range model.Repair(r.Messages) {
		if m.Role == model.User {
			s.turn++
			s.prompt = ""
			s.results, s.paths, s.last = map[string]model.Part{}, map[string]string{}, ""
		}
		for _, p := range m.Parts {
			switch p.Kind {
			case model.Text:
				if m.Role == model.User {
					s.prompt += p.Text + "\n"
				}
			case model.ToolCall:
				names[p.CallID] = p
			case model.ToolResult:
				if step := stepOf(p.CallID); step != "" && s.results != nil {
					s.results[step], s.last = p, step
					s.paths[step] = pathOf(names[p.CallID].Input)
				}
			case model.Reasoning, model.File, model.Native:
			}
		}
	}
	return s
}

// callID names a call by its turn and step.
func (s *story) callID(step string) string { return "demo_" + strconv.Itoa(s.turn) + "_" + step }

func stepOf(id string) string {
	f := strings.Split(id, "_")
	if len(f) < 3 || f[0] != "demo" {
		return ""
	}
	return f[2]
}

// text is what a step's call returned.
func (s *story) text(step string) string {
	var b strings.Builder
	for _, p := range s.results[step].Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func (s *story) did(step string) bool { _, ok := s.results[step]; return ok }

// slow reports whether the person asked for a slow turn.
func (s *story) slow() bool {
	return slices.Contains(strings.FieldsFunc(strings.ToLower(s.prompt), func(r rune) bool { return r < 'a' || r > 'z' }), "slow")
}

// asked is the prompt's first line, shortened and free of what Markdown would act on.
func (s *story) asked() string {
	line, _, _ := strings.Cut(strings.TrimSpace(s.prompt), "\n")
	line = strings.Map(func(r rune) rune {
		if strings.ContainsRune("`<>*_[]#|\\\r\t", r) {
			return ' '
		}
		return r
	}, line)
	line = strings.Join(strings.Fields(line), " ")
	if runes := []rune(line); len(runes) > 60 {
		line = string(runes[:60]) + "…"
	}
	return line
}

// git reports whether the folder is a repository's own.
func (s *story) git() bool { return !strings.Contains(s.text(stepLook), notGit) }

// branch is the current branch, "" when there is none.
func (s *story) branch() string {
	for line := range strings.Lines(s.text(stepLook)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "branch: "); ok {
			return name
		}
	}
	return ""
}

// files are the names that looking found, folders left out.
func (s *story) files() []string {
	_, list, _ := strings.Cut(s.text(stepLook), filesFollow)
	var out []string
	for line := range strings.Lines(list) {
		if name := strings.TrimSpace(line); name != "" && name[0] != '[' && !strings.HasSuffix(name, "/") {
			out = append(out, name)
		}
	}
	return out
}

var (
	readmeName = regexp.MustCompile(`(?i)^readme(\.\w+)?$`)
	textName   = regexp.MustCompile(`(?i)^(makefile|license|dockerfile|[\w.-]+\.(md|txt|go|py|js|ts|tsx|jsx|c|h|cc|cpp|rs|rb|java|kt|swift|json|toml|ya?ml|sh|html|css))$`)
)

// worthReading is the file to read: the demo's own, a README, or the first that looks like text.
func (s *story) worthReading() string {
	files := s.files()
	if slices.Contains(files, demoFile) {
		return demoFile
	}
	for _, pattern := range []*regexp.Regexp{readmeName, textName} {
		if i := slices.IndexFunc(files, pattern.MatchString); i >= 0 {
			return files[i]
		}
	}
	return ""
}
