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
	// Setup is what surrounds the messages in the requests from here on. It is on disk before the
	// StepStart of the first such request, so that every request is a function of the log.
	Setup Kind = "setup"
	// Edit leaves records behind: those from seq From up to this one. What is shown, what a model
	// reads and State go on as if they had never been; they stay in the log (see Log.Left), and what
	// they cost stays counted. From is the seq of a User record when a person edits a message, or
	// follows a step's StepStart when a failed attempt is dropped; the checkpoints of a response go
	// with what they became. A User record with From does the
	// same and is itself the new message, so that no crash comes between.
	Edit Kind = "edit"
	// Boundary is a border in the conversation; see Border.
	Boundary Kind = "boundary"
	// Retry says that a request failed and is made again at At. It is for people only.
	Retry Kind = "retry"
	// Question says that a call waits for a person; Answer is what the person said. A Question without
	// an Answer belongs to a call that was not run, or, in an open turn, waits.
	Question Kind = "question"
	Answer   Kind = "answer"
)

// Border says what a Boundary separates.
type Border string

// The borders. One that is not listed, of a newer version, only marks a place.
const (
	// Clear starts the conversation afresh: models and pages see nothing from before it.
	Clear Border = "clear"
	// Reset starts a model's history afresh; people still see what is before it.
	Reset Border = "reset"
	// Start starts a model's history afresh with the Message that it carries, as Reset does; people see
	// its Note.
	Start Border = "start"
	// Fork marks where a fork left its origin. It hides nothing.
	Fork Border = "fork"
	// Compaction starts a model's history afresh with what follows it, as Reset does.
	Compaction Border = "compaction"
)

// starts reports whether the history of models begins after the border.
func (b Border) starts() bool { return b == Clear || b == Reset || b == Start || b == Compaction }

// Choice is the model and how hard it is to think, as a person chose them: Model is "provider:id",
// Level a level's name or number; an empty field leaves the workspace's choice.
type Choice struct {
	Model string `json:"model,omitempty"`
	Level string `json:"level,omitempty"`
	Pro   bool   `json:"pro,omitempty"`
	Cyber bool   `json:"cyber,omitempty"`
}

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
	// Choice, on User, is for the turn that answers it alone; nil: the workspace's.
	Choice *Choice `json:"choice,omitempty"`

	Message *model.Message `json:"message,omitempty"` // User, Partial, Assistant, a Boundary that is a Start
	// Delta and Parts are set only in a Partial's line: what changed since the Partial before it,
	// and how many parts the message has.
	Delta []PartDelta `json:"delta,omitempty"`
	Parts int         `json:"parts,omitempty"`

	CallID string       `json:"callId,omitempty"` // ToolStart, ToolEnd, Question, Answer
	Tool   string       `json:"tool,omitempty"`   // ToolStart, ToolEnd, Question: the tool's name
	Result *model.Part  `json:"result,omitempty"` // ToolEnd: a part of kind tool_result
	Detail *tool.Detail `json:"detail,omitempty"` // ToolEnd

	Model string `json:"model,omitempty"` // TurnStart: provider:id
	End   End    `json:"end,omitempty"`   // TurnEnd; on ToolEnd, Interrupted or Crashed when the call was cut off
	Error string `json:"error,omitempty"` // TurnEnd after a failure, Retry, an Edit that leaves one: for people
	Code  string `json:"code,omitempty"`  // likewise: a model.ErrorKind

	Note  string      `json:"note,omitempty"`  // Note, Boundary: Markdown
	Level string      `json:"level,omitempty"` // Note: info, warning or error
	Todos []tool.Todo `json:"todos,omitempty"`

	// Cost, on Assistant, is what the response cost, in millionths of a US dollar; it counts only
	// with CostKnown.
	Cost      int64 `json:"cost,omitempty"`
	CostKnown bool  `json:"costKnown,omitempty"`

	Frame   *Frame    `json:"frame,omitempty"`   // Setup
	From    uint64    `json:"from,omitempty"`    // Edit; User when it takes the place of records
	Border  Border    `json:"border,omitempty"`  // Boundary
	Attempt int       `json:"attempt,omitempty"` // Retry, and an Edit that leaves one: the attempt that failed, from 1
	At      time.Time `json:"at,omitzero"`       // likewise: when the next attempt begins

	Asked *Asked `json:"asked,omitempty"` // Question
	Reply *Reply `json:"reply,omitempty"` // Answer
}

// Asked is what a person is asked to permit.
type Asked struct {
	Reason string  `json:"reason"`         // a sentence
	Rule   string  `json:"rule,omitempty"` // the person's rule that wants to be asked
	Rights []Right `json:"rights"`         // what is missing, exactly
	// Always are the rules that would grant the same for good; none: that can't be granted.
	Always []string `json:"always,omitempty"`
	// Broad are rules that would grant what begins like it, too; none: that is not safe to offer.
	Broad []string `json:"broad,omitempty"`
	// Outside says that the call would run out of the sandbox.
	Outside bool `json:"outside,omitempty"`
}

// Right is one thing that a call may not do yet; see carrel/agent/permission.
type Right struct {
	Kind string `json:"kind"`
	What string `json:"what"`
}

// Reply is what a person said to a Question.
type Reply struct {
	Choice Choose `json:"choice"`
	Text   string `json:"text,omitempty"` // with No: for the model
}

// Choose is how a person answers.
type Choose string

// The answers.
const (
	Once   Choose = "once"
	Always Choose = "always" // the rules were saved
	No     Choose = "no"
)

// End says how a turn ended.
type End string

// The ends of a turn.
const (
	Done        End = "done"
	Interrupted End = "interrupted" // by a person
	Failed      End = "failed"
	Crashed     End = "crashed" // found at the next start
)
