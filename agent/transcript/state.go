package transcript

import (
	"slices"

	"carrel/agent/model"
	"carrel/agent/tool"
)

// keptIDs is how many message ids State remembers, newest last.
const keptIDs = 256

// State is the fold over a log: what a conversation needs to know to go on.
type State struct {
	LastSeq uint64
	// Turn is the id of the open turn, "" when none is. Step and StepSeq are its current step's.
	Turn    string
	Step    int
	StepSeq uint64
	// Unanswered is the turn id of a User record that no TurnStart followed.
	Unanswered string
	// Calls are the calls of the open turn's last response that have no result yet, started or
	// not; OpenCalls are the ToolStart records of those that were started.
	Calls     []model.Part
	OpenCalls []Record
	// LastPartial is the newest checkpoint of the open turn's response, whole; nil once the
	// response is complete.
	LastPartial *Record
	// LastEnd is the newest TurnEnd.
	LastEnd *Record
	// Model is the newest turn's model, "" before the first.
	Model string
	Todos []tool.Todo
	Usage model.Usage // sum over the conversation
	// Context is how many tokens the last request had, cached ones included.
	Context int64
	// Damaged counts lines that could not be read, or only in part. They are still in the file.
	Damaged int
	// Torn names the file into which a torn tail was moved by this Open, "" when there was none.
	Torn string `json:"-"`
	// Messages counts the messages of people and complete responses.
	Messages int
	// Cost is what the responses cost whose price was known, in millionths of a US dollar, those
	// that an Edit left included.
	Cost int64
	// Frame is the newest Setup's, nil before the first.
	Frame *Frame
	// Start is the seq of the Boundary after which the history of models begins, Cleared of the
	// one before which pages show nothing; 0 when there is none.
	Start, Cleared uint64
	// Retry is the newest Retry of a request that has not been answered since, or the Edit that left it.
	Retry *Record
	// Question is the newest Question of a call that has neither an Answer nor a result.
	Question *Record `json:",omitempty"`
	// MessageIDs are the ids of the last 256 User records, oldest first.
	MessageIDs []string
}

func (s *State) clone() State {
	c := *s
	c.Calls = slices.Clone(s.Calls)
	c.OpenCalls = slices.Clone(s.OpenCalls)
	c.Todos = slices.Clone(s.Todos)
	c.MessageIDs = slices.Clone(s.MessageIDs)
	return c
}

// apply folds one record in. A Partial must be whole.
func (s *State) apply(r *Record) {
	s.LastSeq = r.Seq
	switch r.Kind {
	case User:
		s.cutPartial()
		s.Messages++
		if r.Turn != s.Turn { // else it joins the open turn
			s.Unanswered = r.Turn
		}
		s.remember(r.MessageID)
	case TurnStart:
		s.closeStep()
		s.Turn, s.Model, s.Unanswered = r.Turn, r.Model, ""
		s.Step, s.StepSeq = 0, 0
	case TurnEnd:
		s.closeStep()
		s.Turn, s.Unanswered = "", ""
		s.Step, s.StepSeq = 0, 0
		end := *r
		s.LastEnd = &end
	case StepStart:
		s.closeStep()
		s.Step, s.StepSeq = r.Step, r.Seq
	case Partial:
		p := *r
		s.LastPartial, s.Retry = &p, nil
	case Assistant:
		s.Messages++
		s.LastPartial, s.Retry = nil, nil
		if r.CostKnown {
			s.Cost += r.Cost
		}
		s.count(r.Message.Usage)
		s.Calls, s.OpenCalls = nil, nil
		for _, p := range r.Message.Parts {
			if p.Kind == model.ToolCall {
				s.Calls = append(s.Calls, p)
			}
		}
	case Question, Answer, ToolStart, ToolEnd:
		s.call(r)
	case Todos:
		s.Todos = r.Todos
	case Setup:
		s.Frame = r.Frame
	case Boundary:
		s.border(r)
	case Retry, Edit:
		if r.Attempt > 0 {
			again := *r
			s.Retry = &again
		}
	case Note:
	}
}

// call folds a record of a call in.
func (s *State) call(r *Record) {
	if r.Kind != ToolStart && s.Question != nil && s.Question.CallID == r.CallID {
		s.Question = nil
	}
	switch r.Kind {
	case Question:
		asked := *r
		s.Question = &asked
	case ToolStart:
		s.OpenCalls = append(s.OpenCalls, *r)
	case ToolEnd:
		s.Calls = slices.DeleteFunc(s.Calls, func(p model.Part) bool { return p.CallID == r.CallID })
		s.OpenCalls = slices.DeleteFunc(s.OpenCalls, func(o Record) bool { return o.CallID == r.CallID })
	default:
	}
}

func (s *State) remember(id string) {
	if id == "" {
		return
	}
	s.MessageIDs = append(s.MessageIDs, id)
	if n := len(s.MessageIDs); n > keptIDs {
		s.MessageIDs = slices.Clone(s.MessageIDs[n-keptIDs:])
	}
}

// border folds a Boundary in.
func (s *State) border(r *Record) {
	if !r.Border.starts() {
		return
	}
	s.Start, s.Context = r.Seq, 0
	if r.Border == Clear {
		s.Cleared, s.Messages = r.Seq, 0
	}
	if r.Border != Compaction {
		s.Todos = nil
	}
}

// closeStep forgets an unfinished step; what its response had used so far still counts.
func (s *State) closeStep() {
	s.cutPartial()
	s.Calls, s.OpenCalls, s.Retry, s.Question = nil, nil, nil, nil
}

func (s *State) cutPartial() {
	if s.LastPartial != nil {
		s.count(s.LastPartial.Message.Usage)
	}
	s.LastPartial = nil
}

func (s *State) count(u model.Usage) {
	s.Usage.Input += u.Input
	s.Usage.Output += u.Output
	s.Usage.Reasoning += u.Reasoning
	s.Usage.CacheRead += u.CacheRead
	s.Usage.CacheWrite += u.CacheWrite
	if n := u.Input + u.CacheRead + u.CacheWrite; n > 0 {
		s.Context = n
	}
}
