package tool

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"carrel/workspaces/runtime"
)

const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = 600 * time.Second
	// maxScript keeps the script within what Linux takes as one argument (128 KiB).
	maxScript = 120 << 10
)

// bash runs a script.
type bash struct {
	boxed bool // in a sandbox, where the model may ask to leave it
}

func (b bash) Spec() Spec {
	properties := `"script":{"type":"string"},
"timeout_secs":{"type":"number","description":"Default 120, at most 600"},
"display_name":{"type":"string","description":"A short name for the process, such as Unit tests"},
"model_intent":{"type":"string","description":"What it is for, under 100 characters, such as Running the unit tests"}`
	if !b.boxed {
		return spec("bash", properties, "script", "display_name")
	}
	s := spec("bash", properties+`,
"dangerouslyDisableSandbox":{"type":"boolean","description":"Ask the person to let this one command run outside of the sandbox. Only after it failed because of the sandbox"}`,
		"script", "display_name")
	s.Description = boxedDescription(s.Description)
	return s
}

// boxedDescription is what the model reads where commands are confined.
func boxedDescription(plain string) string {
	text, err := docs.ReadFile("sandbox.md")
	if err != nil {
		panic(err) // it is part of the program
	}
	// There nothing lives on in the background.
	plain = strings.Replace(plain, "; processes it leaves in the background live on until the workspace closes", "", 1)
	return strings.TrimRight(plain, "\n") + "\n" + string(text)
}

// Boxed gives the tools as they are where commands run in a sandbox.
func Boxed(tools []Tool) []Tool {
	out := slices.Clone(tools)
	for i, t := range out {
		if _, ok := t.(bash); ok {
			out[i] = bash{boxed: true}
		}
	}
	return out
}

func (b bash) Run(ctx context.Context, c Call) Result {
	script, timeout, err := bashInput(c)
	if err != nil {
		return Fail(err.Error())
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := newOutput(c.Env, c.ID)
	begin := time.Now()
	p, note, err := startShell(limited, c, script, out)
	if err != nil {
		out.close()
		return Fail(startFailure(ctx, err))
	}
	exit, err := p.Wait()
	out.close()
	if err != nil {
		return Fail(fmt.Sprintf("The command's end could not be observed: %v", err))
	}
	if exit.Took == 0 {
		exit.Took = time.Since(begin)
	}
	r := bashResult(out, exit, note, ending(ctx, exit, timeout), exit.Killed && ctx.Err() == nil)
	for _, note := range exit.Notes {
		r.Parts[0].Text += "\n[" + note + "]"
	}
	if b.boxed && c.Confine != ConfineNot && exit.Code != 0 && !exit.Killed {
		r.Parts[0].Text += blocked(r.Parts[0].Text)
	}
	return r
}

// blocked is a hint for a command that failed as the sandbox makes commands fail, "" for others.
func blocked(output string) string {
	for _, sign := range []string{"Read-only file system", "Permission denied", "Operation not permitted", "Network is unreachable",
		"Could not resolve host", "Temporary failure in name resolution", "403 Forbidden", "X-Proxy-Rule", "Device or resource busy", "Connection refused"} {
		if strings.Contains(output, sign) {
			return "\n[This ran in the sandbox, which may be why it failed (" + sign + "). If it can't be done otherwise, call again with dangerouslyDisableSandbox: true; the person is asked.]"
		}
	}
	return ""
}

func bashInput(c Call) (script string, timeout time.Duration, err error) {
	in := read(c.Input)
	script = in.need("script")
	in.need("display_name")
	in.text("model_intent")
	var secs float64
	timeout = defaultTimeout
	if in.decode("timeout_secs", "a number", &secs) {
		timeout = time.Duration(min(secs, maxTimeout.Seconds()) * float64(time.Second))
	}
	var background bool
	in.decode("run_in_background", "a boolean", &background)
	switch {
	case in.err != nil:
	case background:
		in.fail("Background processes are not available yet: leave run_in_background out, and give a timeout_secs that is long enough (at most 600)")
	case strings.ContainsRune(script, 0):
		in.fail(`"script" has a NUL character, which bash can't take; write it as $'\0' or use printf`)
	case strings.TrimSpace(script) == "":
		in.fail(`"script" is empty`)
	case len(script) > maxScript:
		in.fail(`"script" has %d bytes, at most %d go: write the data to files with file_edit_insert, then run a short script`, len(script), maxScript)
	case timeout <= 0:
		in.fail(`"timeout_secs" must be over 0`)
	}
	return script, timeout, in.err
}

// startShell starts the script in bash, or in sh where there is no bash; then the note says so.
func startShell(ctx context.Context, c Call, script string, out *output) (p runtime.Process, note string, err error) {
	hold := runtime.HoldPolicy
	switch c.Confine {
	case ConfineNot:
		hold = runtime.HoldNot
	case ConfineReadOnly:
		hold = runtime.HoldReadOnly
	case ConfinePolicy:
	}
	start := func(shell string) (runtime.Process, error) {
		return c.Env.Runtime.Start(ctx, runtime.Command{Argv: []string{shell, "-c", script}, Env: c.Env.Vars, Output: out, Hold: hold})
	}
	if p, err = start("bash"); errors.Is(err, exec.ErrNotFound) {
		note = "bash is not installed here: this ran in sh. "
		p, err = start("sh")
	}
	return p, note, err
}

func startFailure(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "Interrupted before the command started."
	}
	return fmt.Sprintf("The command could not be started: %v", err)
}

// ending says how the command ended, in one line.
func ending(ctx context.Context, exit runtime.Exit, timeout time.Duration) string {
	took := exit.Took.Round(time.Millisecond)
	if took >= 10*time.Second {
		took = took.Round(100 * time.Millisecond)
	}
	switch {
	case exit.Killed && ctx.Err() != nil:
		return fmt.Sprintf("interrupted after %v", took)
	case exit.Killed:
		return fmt.Sprintf("timed out after %v: it and all that it started were killed", timeout)
	}
	if len(exit.Lost) > 0 {
		return fmt.Sprintf("stopped after %v: something outside of the sandbox replaced %s", took, strings.Join(exit.Lost, ", "))
	}
	return fmt.Sprintf("exit code %d after %v", exit.Code, took)
}

func bashResult(out *output, exit runtime.Exit, note, end string, timedOut bool) Result {
	text, omitted := out.text()
	if text == "" {
		text = "(no output)"
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	r := Text(fmt.Sprintf("%s[%s%s]", text, note, end))
	r.IsError = exit.Code != 0 || exit.Killed
	r.Detail = Detail{ExitCode: &exit.Code, DurationMS: exit.Took.Milliseconds(), TimedOut: timedOut, SpillPath: out.spill.kept(), Omitted: omitted, Screen: out.terminal()}
	return r
}
