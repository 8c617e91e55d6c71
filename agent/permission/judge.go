package permission

import (
	"path"
	"slices"
	"strings"
)

// byRule is the outcome of a rule.
func byRule(d Decision, r Rule) Verdict {
	v := Verdict{Decision: d, Rule: r.text}
	switch d {
	case Deny:
		v.Reason = "The rule " + r.text + " denies it."
		v.Hint = "The person's rules forbid this. Do the work without it, and don't try to get around it."
	case Ask:
		v.Reason = "The rule " + r.text + " wants to be asked."
	case Allow:
	}
	return v
}

// planned refuses what writes in plan mode.
func planned(what string) Verdict {
	return Verdict{Decision: Deny, Reason: "Plan mode writes nothing: " + what,
		Hint: "Read and plan only; the person switches the mode when the plan is to be carried out."}
}

// other judges a tool that is known by its name alone.
func (e *Engine) other(mode Mode, r Request) Verdict {
	speaks := func(rules []Rule) (Rule, bool) {
		for _, rule := range rules {
			if rule.calls(r.Tool) || len(r.Paths) > 0 && rule.kind == kindOf(r.Tool) && rule.fetches(r.Paths[0]) {
				return rule, true
			}
		}
		return Rule{}, false
	}
	if rule, ok := speaks(e.Rules.Deny); ok {
		return byRule(Deny, rule)
	}
	right := Right{Kind: RightTool, What: shown(r.Tool), Rule: kindOf(r.Tool)}
	if kindOf(r.Tool) == "WebFetch" && len(r.Paths) > 0 {
		right = Right{Kind: RightTool, What: shown("WebFetch " + r.Paths[0]), Rule: "WebFetch(domain:" + r.Paths[0] + ")"}
	}
	if rule, ok := speaks(e.Rules.Ask); ok {
		v := byRule(Ask, rule)
		right.Rule = ""
		v.Rights = []Right{right}
		return v
	}
	if rule, ok := speaks(e.Rules.Allow); ok {
		return byRule(Allow, rule)
	}
	if r.Harmless || mode == ModeBypass {
		return Verdict{Decision: Allow}
	}
	return Verdict{Decision: Ask, Reason: "This tool needs your consent.", Rights: []Right{right}}
}

// file judges a tool that reads or writes files.
func (e *Engine) file(mode Mode, kind string, r Request) Verdict {
	var rights []Right
	var by Verdict
	for _, p := range r.Paths {
		places := e.places(p, nil)
		if rule, ok := e.speaks(e.Rules.Deny, kind, places); ok {
			return byRule(Deny, rule)
		}
		hidden := kind == "Read" && e.any(e.Hidden, places)
		if rule, ok := e.speaks(e.Rules.Ask, kind, places); ok {
			by = byRule(Ask, rule)
			rights = append(rights, e.pathRight(kind, p, false))
			continue
		}
		if mode == ModeBypass || kind == "Read" && !hidden {
			continue
		}
		if hidden {
			return Verdict{Decision: Deny, Reason: p + " is among the files that the sandbox hides.",
				Hint: "It holds secrets or credentials. Do without them; the person can take it off the list of hidden files."}
		}
		guarded := e.any(e.Guarded, places)
		if kind == "Edit" && mode == ModePlan {
			return planned("the edit of " + shown(p) + " was refused.")
		}
		if rule, ok := e.covers(e.Rules.Allow, kind, places); ok && (!guarded || !rule.all) {
			by.Rule = rule.text
			continue
		}
		if kind == "Edit" && !guarded && e.within(places) && (mode == ModeAcceptEdits || mode == ModeAuto && (e.Headless || e.AutoAllow && r.Sandboxed)) {
			continue
		}
		rights = append(rights, e.pathRight(kind, p, !guarded))
	}
	if len(rights) == 0 {
		return Verdict{Decision: Allow, Rule: by.Rule}
	}
	by.Decision, by.Rights = Ask, rights
	if by.Reason == "" {
		by.Reason = "It edits a file."
	}
	return by
}

func (e *Engine) pathRight(kind, p string, save bool) Right {
	r := Right{Kind: RightWrite, What: shown(p)}
	if kind == "Read" {
		r.Kind = RightRead
	}
	if save {
		r.Rule = e.pathRule(kind, p)
	}
	return r
}

// pathRule writes the rule for one file.
func (e *Engine) pathRule(kind, p string) string {
	abs := e.abs(p, e.Dir)
	if rel, ok := strings.CutPrefix(abs, strings.TrimSuffix(e.Dir, "/")+"/"); ok {
		abs = "./" + rel
	}
	text := kind + "(" + escape(abs) + ")"
	if r, err := ParseRule(text); err != nil || !r.covers(kind, e.abs(p, e.Dir), e.Dir, e.Home) {
		return ""
	}
	return text
}

// abs makes a path absolute, as a shell in the folder would.
func (e *Engine) abs(p, dir string) string {
	switch {
	case p == "~":
		return e.Home
	case strings.HasPrefix(p, "~/"):
		return path.Join(e.Home, p[2:])
	case path.IsAbs(p):
		return path.Clean(p)
	}
	return path.Join(dir, p)
}

// places gives everywhere that a path may lead: from each folder, by its name and through links.
func (e *Engine) places(p string, dirs []string) []string {
	out := []string{e.abs(p, e.Dir)}
	for _, d := range dirs {
		if at := e.abs(p, d); !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	if e.Resolve != nil {
		for _, at := range slices.Clone(out) {
			if real := e.Resolve(at); !slices.Contains(out, real) {
				out = append(out, real)
			}
		}
	}
	return out
}

func (e *Engine) any(f func(string) bool, places []string) bool {
	return f != nil && slices.ContainsFunc(places, f)
}

// within reports whether all of the places are in the project.
func (e *Engine) within(places []string) bool {
	roots := []string{path.Clean(e.Dir)}
	if e.Resolve != nil {
		roots = append(roots, e.Resolve(e.Dir))
	}
	return !slices.ContainsFunc(places, func(p string) bool {
		return !slices.ContainsFunc(roots, func(root string) bool { return p == root || strings.HasPrefix(p, strings.TrimSuffix(root, "/")+"/") })
	})
}

// speaks gives the first rule that is about one of the places.
func (e *Engine) speaks(rules []Rule, kind string, places []string) (Rule, bool) {
	for _, r := range rules {
		for _, p := range places {
			if r.covers(kind, p, e.Dir, e.Home) {
				return r, true
			}
		}
	}
	return Rule{}, false
}

// covers gives a rule that is about the places, when each has one.
func (e *Engine) covers(rules []Rule, kind string, places []string) (found Rule, ok bool) {
	for _, p := range places {
		r, ok := e.speaks(rules, kind, []string{p})
		if !ok {
			return Rule{}, false
		}
		found = r
	}
	return found, len(places) > 0
}
