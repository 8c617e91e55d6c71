package tool

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
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
type bash struct{}

func (bash) Spec() Spec {
	return spec("bash", `"script":{"type":"string"},
"timeout_secs":{"type":"number","description":"Default 120, at most 600"},
"display_name":{"type":"string","description":"A short name for the process, such as Unit tests"},
"model_intent":{"type":"string","description":"What it is for, under 100 characters, such as Running the unit tests"}`,
		"script", "display_name")
}

func (bash) Run(ctx context.Context, c Call) Result {
	script, timeout, err := bashInput(c)
	if err != nil {
		return Fail(err.Error())
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := newOutput(c.Env, c.ID)
	begin := time.Now()
	p, note, err := startShell(limited, c.Env, script, out)
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
	return bashResult(out, exit, note, ending(ctx, exit, timeout), exit.Killed && ctx.Err() == nil)
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
func startShell(ctx context.Context, env Env, script string, out *output) (p runtime.Process, note string, err error) {
	start := func(shell string) (runtime.Process, error) {
		return env.Runtime.Start(ctx, runtime.Command{Argv: []string{shell, "-c", script}, Env: env.Vars, Output: out})
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
	r.Detail = Detail{ExitCode: &exit.Code, DurationMS: exit.Took.Milliseconds(), TimedOut: timedOut, SpillPath: out.spill.kept(), Omitted: omitted}
	return r
}
