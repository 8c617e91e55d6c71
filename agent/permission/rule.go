package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxRule is how long a rule may be, in bytes.
const maxRule = 4 << 10

// Rule is one line of what a person allows, asks for or denies:
//
//	Bash                 every command
//	Bash(go test:*)      commands that begin with these words
//	Bash(git status)     this command
//	Edit(src/**)         files; relative to the project, or with / or ~/ before
//	Read(.env)           a pattern without a slash counts in every folder
//	WebFetch(domain:x)   this host
//	todo_write           any other tool, by its name; a * at its end stands for the rest
type Rule struct {
	text string
	// kind is Bash, Edit, Read, WebFetch or a tool's name.
	kind string
	// all says that there is nothing in parentheses.
	all    bool
	prefix bool   // of a command: more words may follow
	cmd    *step  // of a command
	path   string // of Edit and Read
	domain string // of WebFetch
	// inside says that the rule counts in the sandbox alone.
	inside bool
}

// Rules are what a person wrote. Deny beats ask, ask beats allow.
type Rules struct{ Allow, Ask, Deny []Rule }

// String is the rule as it was written.
func (r Rule) String() string { return r.text }

// Inside makes the rule one that never lets a command out of the sandbox: what a person granted when
// asked about a confined command.
func (r Rule) Inside() Rule {
	r.inside = true
	return r
}

// ParseRule reads a rule. Its error says what is wrong, for the person who wrote it.
func ParseRule(text string) (Rule, error) {
	r := Rule{text: strings.TrimSpace(text)}
	bad := func(format string, args ...any) (Rule, error) {
		return Rule{}, fmt.Errorf("rule %q: %s", shown(text), fmt.Sprintf(format, args...))
	}
	if len(text) > maxRule || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return bad("it is too long, or no text")
	}
	name, body, open := strings.Cut(r.text, "(")
	if r.kind = kindName(name); !open {
		r.all = true
		if !toolName(r.kind) {
			return bad("it should be like Bash(go test:*), Edit(src/**) or the name of a tool")
		}
		return r, nil
	}
	body, closed := strings.CutSuffix(body, ")")
	if !closed {
		return bad("the closing parenthesis is missing")
	}
	if body = strings.TrimSpace(body); body == "" {
		return bad("there is nothing in the parentheses")
	}
	switch r.kind {
	case "Bash":
		return r.command(body, bad)
	case "Edit", "Read":
		r.path = body
		if strings.HasPrefix(body, "~") && body != "~" && !strings.HasPrefix(body, "~/") {
			return bad("only your own home folder can be named by ~")
		}
		return r, nil
	case "WebFetch":
		domain, ok := strings.CutPrefix(body, "domain:")
		if !ok || domain == "" {
			return bad("it should be like WebFetch(domain:example.org)")
		}
		r.domain = strings.ToLower(domain)
		return r, nil
	}
	return bad("only Bash, Edit, Read and WebFetch take something in parentheses")
}

func (r Rule) command(body string, bad func(string, ...any) (Rule, error)) (Rule, error) {
	if body == "*" || body == ":*" {
		r.all = true
		return r, nil
	}
	for _, end := range []string{":*", " *"} {
		if cut, ok := strings.CutSuffix(body, end); ok {
			body, r.prefix = strings.TrimSpace(cut), true
			break
		}
	}
	s := analyse(body)
	if s.unread != "" || len(s.steps) != 1 || len(s.writes)+len(s.reads) > 0 {
		return bad("it should name one command, without redirections; lists are judged command by command")
	}
	r.cmd = s.steps[0]
	if len(r.cmd.words) == 0 || slices.ContainsFunc(r.cmd.words, func(w word) bool { return !w.lit && !w.glob }) ||
		slices.ContainsFunc(r.cmd.assigns, func(w word) bool { return !w.lit }) || !r.cmd.words[0].lit {
		return bad("its words must be plain: no variables or substitutions; :* at the end stands for more words")
	}
	return r, nil
}

func kindName(name string) string {
	name = strings.TrimSpace(name)
	switch strings.ToLower(name) {
	case "bash":
		return "Bash"
	case "edit", "write", "multiedit":
		return "Edit"
	case "read":
		return "Read"
	case "webfetch", "web_fetch":
		return "WebFetch"
	}
	return name
}

// kindOf is the name by which rules call a tool.
func kindOf(tool string) string {
	switch {
	case tool == "bash":
		return "Bash"
	case strings.HasPrefix(tool, "file_edit_"):
		return "Edit"
	case tool == "file_read":
		return "Read"
	case tool == "web_fetch":
		return "WebFetch"
	}
	return tool
}

func toolName(s string) bool {
	s = strings.TrimSuffix(s, "*")
	ok := func(c rune) bool {
		return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !ok(c) })
}

// calls reports whether the rule is about every call of the tool.
func (r Rule) calls(tool string) bool {
	if !r.all {
		return false
	}
	if rest, ok := strings.CutSuffix(r.kind, "*"); ok {
		return strings.HasPrefix(tool, rest)
	}
	return r.kind == kindOf(tool) || r.kind == tool
}

// fetches reports whether the rule is about the host.
func (r Rule) fetches(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if rest, ok := strings.CutPrefix(r.domain, "*."); ok {
		return strings.HasSuffix(host, "."+rest)
	}
	return r.domain != "" && host == r.domain
}

// covers reports whether the rule is about a file; dir and home are the engine's.
func (r Rule) covers(kind, file, dir, home string) bool {
	if r.kind != kind {
		return false
	}
	if r.all {
		return true
	}
	p := r.path
	switch {
	case p == "~":
		p = home
	case strings.HasPrefix(p, "~/"):
		p = path.Join(home, p[2:])
	case strings.HasPrefix(p, "/"):
	case !strings.Contains(strings.TrimSuffix(p, "/"), "/"):
		p = path.Join(escape(dir), "**", p)
	default:
		p = path.Join(escape(dir), p)
	}
	return below(strings.Split(strings.Trim(path.Clean(p), "/"), "/"), strings.Split(strings.Trim(path.Clean(file), "/"), "/"))
}

// below reports whether a pattern names a path, or a folder above it.
func below(pattern, file []string) bool {
	// at[i] says that the first i elements of the pattern match what was read of the path.
	at := make([]bool, len(pattern)+1)
	at[0] = true
	spread := func() {
		for i, p := range pattern {
			if p == "**" && at[i] {
				at[i+1] = true
			}
		}
	}
	spread()
	for _, name := range file {
		if at[len(pattern)] {
			return true
		}
		next := make([]bool, len(at))
		for i, p := range pattern {
			if !at[i] {
				continue
			}
			if p == "**" {
				next[i] = true
			} else if ok, err := path.Match(p, name); err == nil && ok {
				next[i+1] = true
			}
		}
		at = next
		spread()
	}
	return at[len(pattern)]
}

// escape quotes what path.Match would take for a pattern.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

// grants reports whether the rule allows the command, knowing all of it.
func (r Rule) grants(s *step) bool {
	if r.cmd == nil || !slices.Equal(r.cmd.assigns, s.assigns) || len(s.words) < len(r.cmd.words) {
		return false
	}
	for i, w := range r.cmd.words {
		if !w.same(s.words[i]) {
			return false
		}
	}
	if len(r.cmd.words) == len(s.words) && !s.open {
		return true
	}
	// A prefix speaks of what the command does only when it reaches it: "timeout:*" says nothing.
	return r.prefix && len(r.cmd.words) > s.at
}

// exact reports whether the rule spells the command out.
func (r Rule) exact(s *step) bool {
	return r.grants(s) && len(r.cmd.words) == len(s.words) && !s.open
}

// touches reports whether a deny or ask rule is about the command, or could be.
func (r Rule) touches(words []word, open bool) (yes, maybe bool) {
	if r.cmd == nil || len(words) == 0 {
		return false, false
	}
	certain := true
	for i, w := range r.cmd.words {
		if i >= len(words) {
			return false, open
		}
		have := words[i]
		switch {
		case have.lit && (have.text == w.text || i == 0 && strings.EqualFold(path.Base(have.text), path.Base(w.text))):
		case have.lit:
			return false, false
		default:
			certain = false
		}
		if !have.lit && have.split {
			return false, true // from here on any words may follow
		}
	}
	if !r.prefix && len(words) != len(r.cmd.words) {
		return false, false
	}
	return certain, !certain
}
