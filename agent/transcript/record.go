// Package transcript is the append-only log of one conversation.
//
// It promises: what was appended is never rewritten; a crash at any byte loses at most the record
// being written; a damaged line is kept, skipped and counted; opening costs the same for a long
// conversation as for a short one. Beside the log lie index (where each record is) and fold (the
// state at the last turn's end), both disposable, and blobs.
package transcript

import (
	"time"

	"carrel/agent/model"
	"carrel/agent/tool"
)

// Kind says what a Record tells.
type Kind string

// The kinds of a Record.
const (
	// User is a message of a person. It is on disk before a model sees it.
	User Kind = "user"
	// TurnStart opens a turn; TurnEnd closes it. A TurnStart without a TurnEnd at the end of the
	// log was cut off by a crash.
	TurnStart Kind = "turn_start"
	TurnEnd   Kind = "turn_end"
	// StepStart opens a step: a request is about to be sent.
	StepStart Kind = "step_start"
	// Partial is a checkpoint of a response being streamed, at most one every 250 ms. It replaces
	// the Partial of the same step before it, and the Assistant record replaces it. On disk it
	// holds only what is new (Delta); readers get the whole message.
	Partial Kind = "partial"
	// Assistant is a complete response.
	Assistant Kind = "assistant"
	// ToolStart says that a call is about to run; it is on disk before a tool that can change
	// something starts. ToolEnd is its result.
	ToolStart Kind = "tool_start"
	ToolEnd   Kind = "tool_end"
	// Note is for people only, such as the output of the init hook, a retry, a warning.
	Note Kind = "note"
	// Todos is the todo list as of now.
	Todos Kind = "todos"
)

// Record is one line of the log. Seq counts from 1 without gaps as written; Time is UTC. Only the
// fields of its Kind are set.
type Record struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`

	Turn string `json:"turn,omitempty"` // id of the turn, on every record of one
	Step int    `json:"step,omitempty"` // from 1
	// StepSeq is the Seq of the step's StepStart, on every later record of the step. With a part's
	// index it orders what people see, live or read back.
	StepSeq uint64 `json:"stepSeq,omitempty"`

	// MessageID, on User, is the id that the sender gave; sending it again changes nothing.
	MessageID string `json:"messageId,omitempty"`

	Message *model.Message `json:"message,omitempty"` // User, Partial, Assistant
	// Delta and Parts are set only in a Partial's line: what changed since the Partial before it,
	// and how many parts the message has.
	Delta []PartDelta `json:"delta,omitempty"`
	Parts int         `json:"parts,omitempty"`

	CallID string       `json:"callId,omitempty"` // ToolStart, ToolEnd
	Tool   string       `json:"tool,omitempty"`   // ToolStart, ToolEnd: the tool's name
	Result *model.Part  `json:"result,omitempty"` // ToolEnd: a part of kind tool_result
	Detail *tool.Detail `json:"detail,omitempty"` // ToolEnd

	Model string `json:"model,omitempty"` // TurnStart: provider:id
	End   End    `json:"end,omitempty"`   // TurnEnd; on ToolEnd, Interrupted or Crashed when the call was cut off
	Error string `json:"error,omitempty"` // TurnEnd after a failure: for people
	Code  string `json:"code,omitempty"`  // TurnEnd after a failure: a model.ErrorKind

	Note  string      `json:"note,omitempty"`  // Note: Markdown
	Level string      `json:"level,omitempty"` // Note: info, warning or error
	Todos []tool.Todo `json:"todos,omitempty"`
}

// End says how a turn ended.
type End string

// The ends of a turn.
const (
	Done        End = "done"
	Interrupted End = "interrupted" // by a person
	Failed      End = "failed"
	Crashed     End = "crashed" // found at the next start
)
