package permission

import (
	"fmt"
	"slices"
	"strings"
)

// maxDirs is how many folders a script may go to for its paths still to be followed.
const maxDirs = 8

// commandJudge judges one script.
type commandJudge struct {
	e     *Engine
	s     *script
	mode  Mode
	dirs  []string // where it may be
	lost  bool     // where it is can't be told
	boxed bool     // it runs in the sandbox
	// strict says that only rules count: it is to run out of the sandbox.
	strict bool
}

// command judges bash.
func (e *Engine) command(mode Mode, r Request) Verdict {
	j := &commandJudge{e: e, s: analyse(r.Command), mode: mode, boxed: r.Sandboxed && !r.Unsandboxed, strict: r.Unsandboxed}
	j.places()
	denied, mayDeny := j.spoken(e.Rules.Deny)
	if denied != nil {
		return byRule(Deny, *denied)
	}
	asked, mayAsk := j.spoken(e.Rules.Ask)
	if asked != nil {
		v := byRule(Ask, *asked)
		v.Rights = []Right{{Kind: RightCommand, What: shown(r.Command)}}
		return v
	}
	maybe := mayDeny
	if maybe == nil {
		maybe = mayAsk
	}
	v := j.mine(r)
	if maybe != nil && v.Decision == Allow {
		return Verdict{Decision: Ask, Reason: "It could be what the rule " + maybe.text + " is about: that can't be told before it runs.",
			Rights: []Right{{Kind: RightUnclear, What: shown(r.Command)}}, ReadOnly: v.ReadOnly}
	}
	return v
}

// mine judges by the mode and what is allowed.
func (j *commandJudge) mine(r Request) Verdict {
	switch {
	case j.mode == ModeBypass:
		return Verdict{Decision: Allow}
	case r.Unsandboxed:
		return j.outside(r)
	case j.mode == ModePlan:
		return j.plan()
	case j.mode == ModeAuto && j.boxed && j.e.AutoAllow:
		return Verdict{Decision: Allow}
	}
	return j.ask()
}

// ask judges by rules and by what is known to change nothing.
func (j *commandJudge) ask() Verdict {
	for _, r := range j.e.Rules.Allow {
		if r.all && r.kind == "Bash" {
			return byRule(Allow, r)
		}
	}
	rights := j.rights()
	if len(rights) == 0 {
		return Verdict{Decision: Allow}
	}
	v := Verdict{Decision: Ask, Rights: rights, Reason: "It runs a command that is not known to change nothing."}
	switch rights[0].Kind {
	case RightWrite:
		v.Reason = "It writes a file."
	case RightRead:
		v.Reason = "It reads a file outside of the project."
	case RightUnclear:
		v.Reason = "What it does can't be told before it runs."
	case RightCommand, RightOutside, RightTool:
	}
	return v
}

// outside judges a run out of the sandbox: a person's to decide, but for rules that the person wrote.
func (j *commandJudge) outside(r Request) Verdict {
	right := Right{Kind: RightOutside, What: shown(r.Command)}
	rights := j.rights()
	if len(rights) == 0 && j.mode != ModePlan {
		return Verdict{Decision: Allow}
	}
	return Verdict{Decision: Ask, Reason: "It wants to run outside of the sandbox.", Rights: append([]Right{right}, rights...)}
}

// plan judges in plan mode.
func (j *commandJudge) plan() Verdict {
	rights := j.rights()
	for _, r := range rights {
		if r.Kind == RightWrite {
			return planned("the command writes " + r.What + ".")
		}
	}
	writes := len(j.s.writes) > 0 || j.s.unread != "" || len(j.s.doubts) > 0 ||
		!walk(j.s.steps, func(c *step) bool {
			return len(c.own) == 0 && len(c.doubts) == 0 && (c.reads || c.through && len(c.writes) == 0)
		})
	switch {
	case len(rights) == 0 && (!writes || j.boxed):
		return Verdict{Decision: Allow, ReadOnly: true}
	case len(rights) == 0:
		rights = []Right{{Kind: RightUnclear, What: "it may write, and nothing holds it"}}
	}
	return Verdict{Decision: Ask, ReadOnly: true, Rights: rights, Reason: "In plan mode only what changes nothing runs by itself."}
}

// spoken gives a rule that is about the script, and one that could be.
func (j *commandJudge) spoken(rules []Rule) (yes, maybe *Rule) {
	for i := range rules {
		r := &rules[i]
		sure, may := false, false
		switch {
		case r.kind == "Bash" && r.all:
			sure = true
		case r.kind == "Bash":
			may = j.s.unread != "" || len(j.s.doubts) > 0
			walk(j.s.steps, func(c *step) bool {
				y, m := r.touches(c.words, c.open)
				sure, may = sure || y, may || m
				if y, _ := r.touches(plainWords(c.words), c.open); y {
					sure = true
				}
				return !sure
			})
		case r.kind == "Edit" || r.kind == "Read":
			sure, may = j.files(r)
		}
		if sure {
			return r, maybe
		}
		if may && maybe == nil {
			maybe = r
		}
	}
	return nil, maybe
}

// plainWords leaves out what stands between a program and its command: git -C dir push is git push.
func plainWords(words []word) []word {
	if len(words) < 3 || !words[0].lit || !words[1].option() {
		return nil
	}
	valued := "-C -c --git-dir --work-tree --namespace --config-env --prefix -w --workspace -H --context -l --config -n --kubeconfig --manifest-path -Z -R --repo --profile --region"
	i := 1
	for i < len(words) && words[i].lit && words[i].option() {
		if listed(valued, words[i].text) {
			i++
		}
		i++
	}
	if i >= len(words) {
		return nil
	}
	return append([]word{words[0]}, words[i:]...)
}

// files reports whether a rule about files is about the script.
func (j *commandJudge) files(r *Rule) (yes, maybe bool) {
	check := func(words []word) {
		for _, w := range words {
			if !w.lit {
				maybe = true
				continue
			}
			for _, p := range j.e.places(w.text, j.dirs) {
				yes = yes || r.covers(r.kind, p, j.e.Dir, j.e.Home)
			}
		}
	}
	if r.kind == "Edit" {
		check(j.s.writes)
	} else {
		check(j.s.reads)
	}
	walk(j.s.steps, func(c *step) bool {
		switch {
		case r.kind == "Edit":
			check(c.writes)
			check(c.own)
		case c.reads && !c.blind:
			check(c.words[1:])
		}
		return true
	})
	return yes, maybe && r.kind == "Edit"
}

// rights lists what the script needs and nobody granted.
func (j *commandJudge) rights() []Right {
	if j.s.unread != "" {
		return []Right{{Kind: RightUnclear, What: j.s.unread}}
	}
	var out []Right
	more := 0
	add := func(r Right) {
		switch {
		case slices.Contains(out, r):
		case len(out) < maxRights:
			out = append(out, r)
		default:
			more++
		}
	}
	for _, d := range j.s.doubts {
		add(Right{Kind: RightUnclear, What: shown(d)})
	}
	for _, c := range j.s.steps {
		j.need(c, add)
	}
	for _, w := range j.s.writes {
		if !j.writable(w) {
			add(j.write(w))
		}
	}
	for _, w := range j.s.reads {
		if !j.boxed && j.leadsOut(w) {
			add(Right{Kind: RightRead, What: shown(w.text)})
		}
	}
	if more > 0 {
		out = append(out, Right{Kind: RightUnclear, What: fmt.Sprintf("and %d more that are not listed here", more)})
	}
	return out
}

// granted reports whether a rule that counts here spells a command out, or begins it.
func (j *commandJudge) granted(c *step) (exact, begins bool) {
	for _, r := range j.e.Rules.Allow {
		if r.kind != "Bash" || r.all || r.inside && !j.boxed {
			continue
		}
		exact = exact || r.exact(c)
		begins = begins || r.grants(c)
	}
	return exact, begins
}

// need tells what one command needs.
func (j *commandJudge) need(c *step, add func(Right)) {
	exact, begins := j.granted(c)
	if exact {
		return
	}
	if c.through && !c.guest && len(c.doubts) == 0 && len(c.inner) > 0 && !slices.ContainsFunc(c.inner, func(in *step) bool { return in.open }) && (len(c.assigns) == 0 || c.at > 0) {
		for _, in := range c.inner {
			j.need(in, add)
		}
		j.needWrites(c, c.writes, add)
		return
	}
	if j.runs(c, begins) {
		j.needWrites(c, c.writes, add)
		if !begins {
			j.needWrites(c, c.own, add)
		}
		return
	}
	right := Right{Kind: RightCommand, What: shown(spell(append(slices.Clone(c.assigns), c.words...)))}
	if len(c.doubts) > 0 {
		right.What = shown(right.What + " (" + strings.Join(c.doubts, "; ") + ")")
	}
	if fixed(c) {
		right.Rule = "Bash(" + spell(append(slices.Clone(c.assigns), c.words...)) + ")"
		if r, err := ParseRule(right.Rule); err != nil || !r.exact(c) {
			right.Rule = ""
		} else {
			right.Broad = j.broader(c)
		}
	}
	add(right)
}

// runs reports whether a command may run, its writes aside.
func (j *commandJudge) runs(c *step, begins bool) bool {
	if len(c.doubts) > 0 {
		return false
	}
	bare := len(c.assigns) == 0
	if !begins && !(c.through && !c.guest && (bare || c.at > 0)) && !(bare && (c.reads || len(c.own) > 0)) {
		return false
	}
	if !begins && c.reads && !c.blind && !j.reachable(c) {
		return false
	}
	if !begins && (c.reads || len(c.own) > 0) && j.strict {
		return false
	}
	if c.guest {
		return begins
	}
	for _, in := range c.inner {
		exact, begins := j.granted(in)
		if !exact && !j.runs(in, begins) {
			return false
		}
		if !exact && !j.allWritable(in) {
			return false
		}
	}
	return true
}

func (j *commandJudge) allWritable(c *step) bool {
	return !slices.ContainsFunc(c.writes, func(w word) bool { return !j.writable(w) }) &&
		!slices.ContainsFunc(c.own, func(w word) bool { return !j.writable(w) })
}

func (j *commandJudge) needWrites(c *step, writes []word, add func(Right)) {
	for _, w := range writes {
		if !j.writable(w) {
			add(j.write(w))
		}
	}
}

func (j *commandJudge) write(w word) Right {
	r := Right{Kind: RightWrite, What: shown(w.text)}
	if w.lit && len(j.dirs) == 0 && !j.lost && !j.e.any(j.e.Guarded, j.e.places(w.text, nil)) {
		r.Rule = j.e.pathRule("Edit", w.text)
	}
	return r
}

// writable reports whether a command may write the file.
func (j *commandJudge) writable(w word) bool {
	if w.lit && sink(w.text) {
		return true
	}
	if !w.lit || j.lost && !strings.HasPrefix(w.text, "/") {
		return false
	}
	places := j.e.places(w.text, j.dirs)
	rule, ok := j.e.covers(j.e.Rules.Allow, "Edit", places)
	guarded := j.e.any(j.e.Guarded, places)
	if ok && (!guarded || !rule.all) {
		return true
	}
	return !guarded && j.mode == ModeAcceptEdits && !j.strict && j.e.within(places)
}
