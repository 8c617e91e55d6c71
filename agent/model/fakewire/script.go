package fakewire

import (
	"time"

	"carrel/agent/model"
)

// Script answers requests. It is called from several goroutines when requests come in parallel.
type Script func(Request) Reply

// Reply is one response, or a failure. Its parts are sent in the order of its fields.
type Reply struct {
	Reasoning string
	Search    *Search // a search of the provider's own, which the text then cites
	Text      string
	Calls     []Call
	Stop      model.Stop  // "": StopTools with calls, else StopEnd
	Usage     model.Usage // zero: DefaultUsage
	Tier      string      // the tier that is reported

	Chunk int           // runes in each delta; 0 is 8
	Delay time.Duration // before each delta
	// Block, when not nil, is waited for (until it is closed) between the content and the end.
	Block <-chan struct{}

	// Status, when not 0 or 200, makes it an error response. With an ErrorType and no Status the
	// error comes inside the stream, after the content.
	Status       int
	ErrorType    string
	ErrorMessage string
	RetryAfter   string // the header

	CutAfterBytes  int // close the connection after so many bytes of the stream; 0 is never
	CutAfterEvents int // or after so many events
	Hang           Hang
	// Raw, when not nil, is sent instead of everything else.
	Raw []byte
}

// Search is a search by the provider's own tool. Chat Completions tells of what was found only.
type Search struct {
	Query string
	Found []model.Source
	Alone bool // the result is missing: the provider pauses in the middle
}

// Call is a tool call. An ID that is empty is made up, unique in the request's history.
type Call struct {
	ID    string
	Name  string
	Input string // sent as it is, valid or not
}

// Hang is a way to fall silent until the client leaves.
type Hang string

// The ways to fall silent.
const (
	HangNone     Hang = ""
	HangHeaders  Hang = "headers"  // accept, and send nothing
	HangStart    Hang = "start"    // after the headers
	HangLine     Hang = "line"     // after half a line
	HangComments Hang = "comments" // nothing but keep-alive comments, every 10 ms
	HangEnd      Hang = "end"      // after the content, without the end
	HangOpen     Hang = "open"     // after the end: the connection stays open
)

// DefaultUsage is what a reply without Usage reports.
var DefaultUsage = model.Usage{Input: 120, Output: 42, CacheRead: 30}

// Steps plays one reply after the other, by counting the rounds of calls since the last prompt, so
// that it needs no state and a retry gets the same reply. The last reply repeats.
func Steps(replies ...Reply) Script {
	return func(r Request) Reply {
		if len(replies) == 0 {
			return Reply{Text: "Nothing is scripted."}
		}
		return replies[min(r.Rounds(), len(replies)-1)]
	}
}

// Turns plays one script for each prompt of the conversation. The last one repeats.
func Turns(scripts ...Script) Script {
	return func(r Request) Reply {
		if len(scripts) == 0 {
			return Reply{Text: "Nothing is scripted."}
		}
		return scripts[min(max(r.Prompts(), 1), len(scripts))-1](r)
	}
}

// Once plays the first replies in the order in which requests come, whatever they ask, and then
// follows the script: for failures that a retry overcomes.
func Once(then Script, first ...Reply) Script {
	return func(r Request) Reply {
		if r.N <= len(first) {
			return first[r.N-1]
		}
		return then(r)
	}
}

func (r Reply) stop() model.Stop {
	switch {
	case r.Stop != "":
		return r.Stop
	case len(r.Calls) > 0:
		return model.StopTools
	}
	return model.StopEnd
}

func (r Reply) usage() model.Usage {
	if r.Usage == (model.Usage{}) {
		return DefaultUsage
	}
	return r.Usage
}

// chunks cuts a text into deltas.
func (r Reply) chunks(s string) []string {
	n := r.Chunk
	if n <= 0 {
		n = 8
	}
	var out []string
	count, from := 0, 0
	for i := range s {
		if count == n {
			out = append(out, s[from:i])
			count, from = 0, i
		}
		count++
	}
	if from < len(s) {
		out = append(out, s[from:])
	}
	return out
}
