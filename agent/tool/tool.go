// Package tool is the seam between a model and the workspace: what a model can call.
//
// Each built-in tool is one Go file beside one Markdown file (the description that the model
// reads). A tool sees the workspace only through the runtime, caps what it returns, and reports
// failures as results, for the model to react to.
package tool

import (
	"context"
	"encoding/json"

	"carrel/agent/model"
	"carrel/workspaces/runtime"
)

// Tool is something that a model can call.
type Tool interface {
	// Spec is what the model is told. It is constant.
	Spec() Spec
	// Run does the work of one call. It returns when ctx ends, with what it has. It never panics
	// on bad input and never returns more than the caps in its description say.
	Run(ctx context.Context, c Call) Result
}

// Spec describes a tool.
type Spec struct {
	Name        string
	Description string          // Markdown
	Schema      json.RawMessage // JSON schema of the input
	// ReadOnly tools change nothing: calls of one step to them run in parallel, and no fsync
	// precedes them.
	ReadOnly bool
	// Harmless tools change nothing but the conversation itself.
	Harmless bool
}

// Confine says how the sandbox holds a call.
type Confine string

// The ways. The zero value is the policy.
const (
	ConfinePolicy   Confine = ""          // as the workspace's policy says
	ConfineReadOnly Confine = "read-only" // likewise, but nothing of the project is written
	ConfineNot      Confine = "not"       // not at all: a person, or a rule of the person, lets it
)

// Call is one call of a tool.
type Call struct {
	ID    string
	Input json.RawMessage // as the model wrote it; may be malformed
	Env   Env
	// Confine is what was decided about the call.
	Confine Confine
}

// Env is what a call may use.
type Env struct {
	Runtime runtime.Runtime
	// Vars is the environment for commands, KEY=value.
	Vars []string
	// SpillDir is a folder outside the workspace for output too large to return; file_read may
	// read below it.
	SpillDir string
	// Progress, when not nil, gets output while the tool runs, for people to watch. Chunks are
	// valid UTF-8. It must not be called after Run returned.
	Progress func(chunk string)
	// SaveTodos, when not nil, keeps the workspace's todo list.
	SaveTodos func([]Todo)
}

// Todo is one entry of the todo list. Status is pending, in_progress or completed.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// Result is a call's outcome. Parts goes to the model; Detail is what a person is shown.
type Result struct {
	Parts   []model.Part
	IsError bool
	Detail  Detail
}

// Detail is what a person is shown of a call, beside its input. At most one of the groups is set.
type Detail struct {
	// A command.
	ExitCode   *int   `json:"exitCode,omitempty"`
	DurationMS int64  `json:"durationMs,omitempty"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	SpillPath  string `json:"spillPath,omitempty"` // where the whole output is kept
	Omitted    int64  `json:"omitted,omitempty"`   // bytes left out of the result
	// Screen is the end of the output, at most 32 KiB, with the sequences that colour it (SGR) and with
	// carriage returns; it is empty when nothing was coloured, or nobody watched.
	Screen string `json:"screen,omitempty"`

	// An edit: a unified diff without a file header, capped at 64 KiB, and its counts.
	Diff    string `json:"diff,omitempty"`
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`

	// A read.
	FirstLine  int `json:"firstLine,omitempty"`
	LastLine   int `json:"lastLine,omitempty"`
	TotalLines int `json:"totalLines,omitempty"`

	Todos []Todo `json:"todos,omitempty"`
}

// Text makes a result of plain text.
func Text(s string) Result {
	return Result{Parts: []model.Part{{Kind: model.Text, Text: s}}}
}

// Fail makes a failed result. The text says what was wrong and what to do instead.
func Fail(s string) Result {
	r := Text(s)
	r.IsError = true
	return r
}
