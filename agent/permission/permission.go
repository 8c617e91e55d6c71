// Package permission decides whether a call of a tool runs, is a person's to decide, or is refused.
//
// It is pure: it reads no file and runs nothing. Commands are parsed and judged by what they do, not
// by how they begin: every simple command of a list, a substitution, a wrapper such as env or xargs
// counts by itself, a redirection is a write, and an option that writes or runs something counts as
// that. What can't be told before it runs is never allowed by a rule.
//
// It is no fence: it asks the right question at the right time. What holds commands is the sandbox.
package permission

import (
	"encoding/json"
	"fmt"
	"net/url"
)

// Mode says how much runs without a question.
type Mode string

// The modes.
const (
	ModeAsk         Mode = "ask"          // reads run; edits and commands ask
	ModeAcceptEdits Mode = "accept-edits" // edits inside the project run too
	ModePlan        Mode = "plan"         // nothing writes
	ModeAuto        Mode = "auto"         // what the sandbox holds runs (with AutoAllow); the rest asks
	ModeBypass      Mode = "bypass"       // everything runs that no rule speaks of
)

// Modes lists the modes from the strictest to the loosest, as people are offered them.
func Modes() []Mode {
	return []Mode{ModePlan, ModeAsk, ModeAcceptEdits, ModeAuto, ModeBypass}
}

// Valid reports whether the mode is one of Modes.
func (m Mode) Valid() bool {
	switch m {
	case ModeAsk, ModeAcceptEdits, ModePlan, ModeAuto, ModeBypass:
		return true
	}
	return false
}

// Decision is what becomes of a call.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask" // a person decides
	Deny  Decision = "deny"
)

// Request is a call of a tool as it is judged.
type Request struct {
	// Tool is the tool's name: "bash", "file_read", or one with the prefix "file_edit_". Of others only
	// the name is looked at.
	Tool string
	// Command is bash's script.
	Command string
	// Paths are the files of a file tool, or the domain of a web tool.
	Paths []string
	// Harmless says that the tool changes nothing outside the conversation.
	Harmless bool
	// Sandboxed says that the sandbox holds the call: for a command that it would run confined, for
	// a file that a confined command could do the same.
	Sandboxed bool
	// Unsandboxed says that the model asks for a run outside of the sandbox.
	Unsandboxed bool
}

// RequestOf reads what a call asks for out of its input. What is not there is left out: the tool
// itself refuses the call then.
func RequestOf(tool string, input json.RawMessage, harmless bool) Request {
	var in struct {
		Script, Path, URL string
		Unsandboxed       bool
	}
	// Field by field: a wrong type of one hides no other.
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) == nil {
		for name, to := range map[string]any{"script": &in.Script, "path": &in.Path, "url": &in.URL, unsandboxed: &in.Unsandboxed} {
			_ = json.Unmarshal(fields[name], to)
		}
	}
	r := Request{Tool: tool, Harmless: harmless}
	switch kindOf(tool) {
	case "Bash":
		r.Command, r.Unsandboxed = in.Script, in.Unsandboxed
	case "Edit", "Read":
		r.Paths = []string{in.Path}
	case "WebFetch":
		if u, err := url.Parse(in.URL); err == nil {
			r.Paths = []string{u.Hostname()}
		}
	}
	return r
}

// unsandboxed is the input of bash by which a model asks for a run out of the sandbox.
const unsandboxed = "dangerouslyDisableSandbox"

// RightKind says what sort of thing a call may not do yet.
type RightKind string

// The kinds of a Right.
const (
	RightCommand RightKind = "command" // run this command
	RightWrite   RightKind = "write"   // write this file
	RightRead    RightKind = "read"    // read this file
	RightOutside RightKind = "outside" // run outside of the sandbox
	RightTool    RightKind = "tool"    // call this tool
	RightUnclear RightKind = "unclear" // do something that can't be told before
)

// Right is one thing that a call needs and nobody has granted.
type Right struct {
	Kind RightKind
	// What is the command, the path or the reason, for people; at most maxShown bytes.
	What string
	// Rule is the rule that would grant it, "" where none can.
	Rule string
	// Broad is one that would grant what begins like it, too; "" where that is not safe.
	Broad string
}

const (
	// maxShown is how long the text of a Right may be, in bytes.
	maxShown = 2 << 10
	// maxRights is how many rights a verdict lists.
	maxRights = 20
)

// Verdict is the outcome of judging a call.
type Verdict struct {
	Decision Decision
	// Rule is the rule of the person that decided, "" when none did.
	Rule string
	// Reason says why, in a sentence for people; "" when it is allowed without more to say.
	Reason string
	// Hint says what to do instead, for the model; set when the decision is Deny.
	Hint string
	// Rights is what is missing, set when the decision is Ask, or would be with a person present.
	Rights []Right
	// Places are where the files of a file tool are, by name and through links: what was decided about.
	Places []string
	// ReadOnly says that a sandboxed command must not write into the project (plan mode).
	ReadOnly bool
}

// Always gives the rules that would make the same call run without a question; nil when a rule can't.
func (v Verdict) Always() []string {
	var rules []string
	for _, r := range v.Rights {
		if r.Kind == RightOutside {
			continue
		}
		if r.Rule == "" || Visible(r.Rule) != r.Rule {
			return nil
		}
		rules = append(rules, r.Rule)
	}
	if len(v.Rights) >= maxRights {
		return nil
	}
	return rules
}

// Engine judges calls of one workspace. Its fields are not changed while it is used.
type Engine struct {
	Rules Rules
	// Dir is the workspace's folder and Home the person's, both absolute.
	Dir, Home string
	// AutoAllow lets sandboxed calls run without a question in auto mode.
	AutoAllow bool
	// Headless says that no person is there: what would ask is refused.
	Headless bool
	// Resolve gives where a path leads, through links; nil: nowhere else.
	Resolve func(path string) string
	// Guarded reports whether a file stays as it is for the sandbox; nil: none.
	Guarded func(path string) bool
	// Hidden reports whether a file must not be read; nil: none.
	Hidden func(path string) bool
}

// Judge decides about a call. Deny rules come first, then ask rules, then the mode, then allow rules.
func (e *Engine) Judge(mode Mode, r Request) Verdict {
	var v Verdict
	switch kind := kindOf(r.Tool); kind {
	case "Bash":
		v = e.command(mode, r)
	case "Edit", "Read":
		v = e.file(mode, kind, r)
		for _, p := range r.Paths {
			v.Places = append(v.Places, e.places(p, nil)...)
		}
	default:
		v = e.other(mode, r)
	}
	if v.Decision == Ask && e.Headless {
		v.Decision = Deny
		v.Hint = headlessHint(v)
	}
	return v
}

// headlessHint tells a model that nobody can be asked.
func headlessHint(v Verdict) string {
	hint := "Nobody is there to be asked. Do without it"
	if rules := v.Always(); len(rules) > 0 {
		hint += ", or tell the person that --allow-rule '" + rules[0] + "' would allow it"
	}
	return hint + "."
}

// shown cuts a text for people, and shows what is hidden in it.
func shown(s string) string {
	rest := 0
	if len(s) > maxShown {
		cut := maxShown
		for cut > 0 && s[cut]&0xc0 == 0x80 {
			cut--
		}
		s, rest = s[:cut], len(s)-cut
	}
	if s = Visible(s); rest > 0 {
		s += fmt.Sprintf("… (%d more bytes)", rest)
	}
	return s
}
