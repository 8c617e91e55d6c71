// Package turn owns a conversation while it lives: one goroutine takes commands from a mailbox,
// runs turns one after another, and tells in events what happens.
//
// It promises: a message is on disk before a model sees it, and so is the start of a call before a
// tool that can change something runs; nothing is run twice, also not after a crash; an interrupt
// takes effect within 200 ms at any moment; whatever fails, the conversation stays usable.
package turn

import (
	"context"
	"errors"
	"time"

	"carrel/agent/model"
	"carrel/agent/permission"
	"carrel/agent/tokens"
	"carrel/agent/tool"
	"carrel/agent/transcript"
)

// ErrClosed is returned by every method after Close.
var ErrClosed = errors.New("conversation is closed")

// Config is what a conversation lives on. Log, Queue, Env and Resolve are required.
type Config struct {
	// Workspace is the workspace's id. It is also the cache key of requests.
	Workspace string
	// Log is the conversation's, opened by the holder of the session's lock, who closes it after
	// Close. Only the conversation appends to it.
	Log   *transcript.Log
	Queue Queue
	Tools []tool.Tool
	// Env is asked at each step that has calls, on a goroutine of its own. An error fails the
	// calls with its text.
	Env func(ctx context.Context) (tool.Env, error)
	// Resolve is asked once for each turn, each message with a choice and each fallback.
	Resolve Resolver
	// System gives the system prompt. It is asked once, at the first turn after Start, so that the
	// prefix of all requests stays the same.
	System func(ctx context.Context) string
	// Choice is the workspace's, until SetChoice.
	Choice Choice
	// AutoRetry says whether a failed request is tried again by itself; nil: it is.
	AutoRetry func() bool
	// Breakers are shared by all conversations of the process; nil: this one has its own.
	Breakers *Breakers
	// Budget gives what may still be spent, in micro-USD; nil, or not limited: no limit.
	Budget func() (left int64, limited bool)
	// Tokens counts what requests have, for the size of the context to be told before the provider
	// tells it; nil: it is estimated by bytes.
	Tokens *tokens.Counter
	// Judge decides about each call just before it would run, on a goroutine of its own; nil: all run.
	Judge func(ctx context.Context, r permission.Request) permission.Verdict
	// Unattended says that nobody is there to answer: a call that waited for a person when the process
	// ended is closed as not run. Else it waits on.
	Unattended bool
	// Stop is asked after each step that has calls whether the turn ends there, and why, for people.
	Stop func(StepInfo) (reason string, stop bool)
	// Force names the tool that the next step must call, given the step before it; "": any or none.
	Force func(StepInfo) string
	// OneTool asks for one call in a response; more are refused.
	OneTool bool
	// MaxSteps is how many steps a turn may have; 0 is 200.
	MaxSteps int
	// Events gets every event in order, on the owner's goroutine. It must not block nor call the
	// conversation.
	Events func(Event)
	// Ready is closed when whoever gets the events is ready for them: a turn that goes on from before a
	// restart waits until then. nil: from the start.
	Ready <-chan struct{}
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// State is what a conversation is doing, or how its last turn ended when that was not well.
type State string

// The states.
const (
	Idle         State = "idle"
	Preparing    State = "preparing"
	Streaming    State = "streaming"
	RunningTools State = "running_tools"
	// WaitingForUser: a call needs a person's consent; Question tells which.
	WaitingForUser State = "waiting_for_user"
	Interrupting   State = "interrupting"
	// Retrying: a request failed and waits to be tried again; Recovering: it did when the process
	// ended, and the wait goes on in this one.
	Retrying    State = "retrying"
	Recovering  State = "recovering"
	Failed      State = "failed"
	Interrupted State = "interrupted" // by the person, or by a crash
)

// Working reports whether a turn is open.
func (s State) Working() bool {
	switch s {
	case Preparing, Streaming, RunningTools, WaitingForUser, Interrupting, Retrying, Recovering:
		return true
	case Idle, Failed, Interrupted:
		return false
	}
	return false
}

// Event is something that happened. Exactly one field is set.
type Event struct {
	Record   *transcript.Record // was appended; Partial records are not told, see Stream
	Stream   *Stream
	Progress *Progress
	State    *StateChange
	Dropped  *StepRef
}

// Stream is an increment of a response.
type Stream struct {
	Turn    string
	Step    int
	StepSeq uint64
	// Event.Message is nil: a copy of the response for each increment would cost its square.
	Event model.Event
	// Part is the part that the event is of, as it is now; zero for UsageUpdate.
	Part model.Part
}

// Progress is output of a running call.
type Progress struct {
	CallID  string
	StepSeq uint64
	Part    int // index of the call in the response's parts
	Chunk   string
}

// StateChange tells everything that is not in the log, all of it.
type StateChange struct {
	State  State
	Queue  []Queued
	Held   bool // the queue waits for Send or Release
	Choice Choice
	Model  string // provider:id of the open turn, else of the choice
	// Retry is the wait of Retrying and Recovering, else nil.
	Retry *RetryWait
	// Question is what WaitingForUser waits for, else nil.
	Question *Question
	// Budget is what may still be spent in micro-USD, nil without a limit; Spent is what the
	// conversation cost so far, as far as prices are known.
	Budget *int64
	Spent  int64
	// Tokens is the estimated size of the context and Window the model's, both 0 while unknown.
	Tokens, Window int64
	// Code and Error say why the last turn failed, while State is Failed. They are the TurnEnd's,
	// but are told here also when the log could not be written.
	Code  string
	Error string
}

// Question is a call that needs a person's consent.
type Question struct {
	CallID  string
	Tool    string
	StepSeq uint64
	Part    int // index of the call in the response's parts
	Since   time.Time
	transcript.Asked
}

// RetryWait is a request that failed and will be tried again.
type RetryWait struct {
	At      time.Time // when
	Attempt int       // the one to come, from 2; 0 when only the provider's breaker is waited for
	Of      int       // how many there are at most
	Code    string    // as in StateChange
	Reason  string    // what happened, for people
}

// StepRef says that what was streamed of a step counts for nothing: no record of it follows.
type StepRef struct {
	Turn    string
	Step    int
	StepSeq uint64
}

// Snapshot is the live part of a conversation; the log tells the rest. Every record up to LastSeq
// was told in events before, none after it.
type Snapshot struct {
	StateChange
	LastSeq uint64
	// Turn, Step and StepSeq are the open turn's; Live is the response being streamed, nil when
	// none is.
	Turn    string
	Step    int
	StepSeq uint64
	Live    *model.Message
	Running []Running
}

// Running is a call that a tool is working on.
type Running struct {
	CallID  string
	Tool    string
	StepSeq uint64
	Part    int
	Started time.Time
	// Output is the last 64 KiB of what it wrote; Omitted is how many bytes came before.
	Output  string
	Omitted int64
}

// Codes of a failed turn beside those of model.ErrorKind.
const (
	CodeModel    = "model"      // the model's settings don't work; the sentence says what to do
	CodeFilter   = "filter"     // the provider's filter stopped the response
	CodeCut      = "output_cut" // calls were cut at the output limit again and again
	CodeSteps    = "steps"      // too many steps
	CodeBudget   = "budget"     // the next request would cost more than is left
	CodeLog      = "log"        // the log could not be written
	CodeInternal = "internal"   // a defect of ours
)
