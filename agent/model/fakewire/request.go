package fakewire

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Request is a request as it came, with what the formats have in common.
type Request struct {
	Format string // anthropic, responses, chat, gemini, bedrock or converse
	Method string
	Host   string
	URI    string // as it came, with its escapes and query
	Path   string
	Header http.Header
	Raw    []byte
	N      int // 1 for the server's first request

	Model    string
	System   string
	Tools    []string
	Messages []Message
	Force    string // the tool that must be called, "" none
	OneTool  bool   // one call at most
	Search   bool   // the provider's own web search is on
	Hour     bool   // the cache is asked to keep for an hour
}

// Message is one message of a request. What follows another of the same role is one with it.
type Message struct {
	Role    string // user, assistant or tool
	Text    string
	Calls   []Call
	Results []Result
	Images  int
	proofs  []proof  // of reasoning that is sent back
	last    string   // kind of the last part
	uses    []string // ids of uses of the provider's own tools that have no result yet
}

// Result is the result of a call.
type Result struct {
	ID      string
	Text    string
	IsError bool // not every format says it
}

// Prompt is the text of the last message of a person.
func (r Request) Prompt() string {
	if i := r.lastPrompt(); i >= 0 {
		return r.Messages[i].Text
	}
	return ""
}

// Prompts is how many messages of a person there are.
func (r Request) Prompts() int {
	n := 0
	for _, m := range r.Messages {
		if m.prompt() {
			n++
		}
	}
	return n
}

// Rounds is how many responses with calls there were since the last prompt.
func (r Request) Rounds() int {
	n := 0
	for _, m := range r.Messages[r.lastPrompt()+1:] {
		if m.Role == "assistant" && len(m.Calls) > 0 {
			n++
		}
	}
	return n
}

// Results are the results since the last prompt.
func (r Request) Results() []Result {
	var out []Result
	for _, m := range r.Messages[r.lastPrompt()+1:] {
		out = append(out, m.Results...)
	}
	return out
}

func (r Request) lastPrompt() int {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].prompt() {
			return i
		}
	}
	return -1
}

// prompt tells a person's message from the images that Chat Completions sends after results.
func (m Message) prompt() bool {
	return m.Role == "user" && !strings.HasPrefix(m.Text, "[file from ")
}

// callID makes an id that no other call of the conversation has.
func (r Request) callID(i int) string {
	n := 0
	for _, m := range r.Messages {
		n += len(m.Calls)
	}
	return fmt.Sprintf("call_%d", n+i+1)
}

// add appends a message, or joins it to the last one of its role.
func (r *Request) add(role string) *Message {
	if n := len(r.Messages); n == 0 || r.Messages[n-1].Role != role {
		r.Messages = append(r.Messages, Message{Role: role})
	}
	return &r.Messages[len(r.Messages)-1]
}

// native takes a use of a provider's own tool, or its result.
func (m *Message) native(use bool, id string) {
	m.last = "native"
	if use {
		m.uses = append(m.uses, id)
	} else if i := slices.Index(m.uses, id); i >= 0 {
		m.uses = slices.Delete(m.uses, i, i+1)
	} else {
		m.uses = append(m.uses, "result without use: "+id)
	}
}

// Continues reports whether the request asks to go on with a paused response.
func (r Request) Continues() bool {
	n := len(r.Messages)
	return n > 0 && r.Messages[n-1].Role == "assistant"
}

func (m *Message) say(text string) {
	if m.Text != "" {
		m.Text += "\n"
	}
	m.Text += text
	m.last = "text"
}
