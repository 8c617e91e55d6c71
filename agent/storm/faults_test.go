package storm_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

// missing is a call id that the server leaves out of what it sends.
const missing = "id-that-is-missing"

// plan is what happens to one request.
type plan struct {
	fault string
	reply fakewire.Reply
	// page, with a status, is sent instead of any reply, as that media type.
	page   string
	status int
	media  string // of the response, when not "" instead of the right one
	garble int    // this many writes into the stream one is broken off in its middle; 0 never
	junk   bool   // further events that nobody knows
}

// fault is one way to go wrong.
type fault struct {
	name   string
	weight int
	strike func(r *rand.Rand, p *plan)
}

func answer(code int, kind, message string) func(*rand.Rand, *plan) {
	return func(_ *rand.Rand, p *plan) {
		p.reply = fakewire.Reply{Status: code, ErrorType: kind, ErrorMessage: message}
	}
}

func page(code int, media, text string) func(*rand.Rand, *plan) {
	return func(_ *rand.Rand, p *plan) { p.status, p.media, p.page = code, media, text }
}

func hang(h fakewire.Hang) func(*rand.Rand, *plan) {
	return func(_ *rand.Rand, p *plan) { p.reply.Hang = h }
}

func midStream(kind string) func(*rand.Rand, *plan) {
	return func(_ *rand.Rand, p *plan) { p.reply.ErrorType, p.reply.ErrorMessage = kind, "it broke in the middle" }
}

// calls changes each call of the reply; without any there is one.
func calls(change func(i int, c *fakewire.Call)) func(*rand.Rand, *plan) {
	return func(r *rand.Rand, p *plan) {
		if len(p.reply.Calls) == 0 {
			p.reply.Calls = []fakewire.Call{call(r), call(r)}
		}
		for i := range p.reply.Calls {
			change(i, &p.reply.Calls[i])
		}
	}
}

// faults are all of them. Those that end a turn are rare, so that most turns end well.
var faults = []fault{
	{"cut by bytes", 5, func(r *rand.Rand, p *plan) { p.reply.CutAfterBytes = 1 + r.IntN(1500) }},
	{"cut by events", 5, func(r *rand.Rand, p *plan) { p.reply.CutAfterEvents = 1 + r.IntN(12) }},
	{"stall before the headers", 2, hang(fakewire.HangHeaders)},
	{"stall at the start", 1, hang(fakewire.HangStart)},
	{"stall in a line", 1, hang(fakewire.HangLine)},
	{"stall before the end", 3, hang(fakewire.HangEnd)},
	{"open after the end", 2, hang(fakewire.HangOpen)},
	{"nothing but comments", 1, hang(fakewire.HangComments)},
	{"429 with Retry-After", 4, func(r *rand.Rand, p *plan) {
		answer(429, "rate_limit_error", "slow down")(r, p)
		p.reply.RetryAfter = fmt.Sprint(1 + r.IntN(90))
	}},
	{"429 with a date", 2, func(r *rand.Rand, p *plan) {
		answer(429, "rate_limit_error", "slow down")(r, p)
		p.reply.RetryAfter = time.Now().Add(time.Duration(r.IntN(100)) * time.Second).UTC().Format(http.TimeFormat)
	}},
	{"429 for hours", 1, func(r *rand.Rand, p *plan) {
		answer(429, "rate_limit_error", "come back tomorrow")(r, p)
		p.reply.RetryAfter = "80000"
	}},
	{"529", 4, answer(529, "overloaded_error", "Overloaded")},
	{"503", 4, answer(503, "overloaded_error", "Service Unavailable")},
	{"503 as a page", 2, page(503, "text/html", "<html><body>no healthy upstream</body></html>")},
	{"502 as a page", 2, page(502, "text/html; charset=utf-8", "<html><h1>502 Bad Gateway</h1></html>")},
	{"500 without a word", 2, page(500, "", "")},
	{"504 with half of a JSON", 1, page(504, "application/json", `{"error":{"mess`)},
	{"200 as a page", 2, page(200, "text/html", "<html>please sign in</html>")},
	{"200 as JSON that is none", 2, page(200, "application/json", `{"id":"x","choices":[{"mess`)},
	{"200 without a word", 2, page(200, "text/event-stream", "")},
	{"204", 1, page(204, "", "")},
	{"a stream that calls itself JSON", 2, func(_ *rand.Rand, p *plan) { p.media = "application/json" }},
	{"a stream that calls itself text", 1, func(_ *rand.Rand, p *plan) { p.media = "text/plain" }},
	{"malformed JSON", 5, func(r *rand.Rand, p *plan) { p.garble = 1 + r.IntN(8) }},
	{"events that nobody knows", 3, func(_ *rand.Rand, p *plan) { p.junk = true }},
	{"overloaded in the middle", 3, midStream("overloaded_error")},
	{"server error in the middle", 3, midStream("server_error")},
	{"rate limit in the middle", 2, midStream("rate_limit_exceeded")},
	{"overflow in the middle", 1, midStream("context_length_exceeded")},
	{"400", 2, answer(400, "invalid_request_error", "something is not as it should be")},
	{"401", 1, answer(401, "authentication_error", "invalid x-api-key")},
	{"402", 1, answer(402, "billing_error", "pay first")},
	{"429 without quota", 1, answer(429, "insufficient_quota", "You exceeded your current quota.")},
	{"404", 1, answer(404, "not_found_error", "there is no such model")},
	{"413", 1, answer(413, "request_too_large", "Request exceeds the maximum size")},
	{"length stop", 3, func(_ *rand.Rand, p *plan) { p.reply.Calls, p.reply.Stop = nil, model.StopLength }},
	{"length stop in a call", 4, func(r *rand.Rand, p *plan) {
		p.reply.Calls = []fakewire.Call{call(r), {Name: "write", Input: `{"n":"cut in the mid`}}
		p.reply.Stop = model.StopLength
	}},
	{"refusal", 2, func(_ *rand.Rand, p *plan) { p.reply.Calls, p.reply.Stop = nil, model.StopFilter }},
	{"refusal after calls", 1, func(_ *rand.Rand, p *plan) { p.reply.Stop = model.StopFilter }},
	{"one id for all calls", 4, calls(func(_ int, c *fakewire.Call) { c.ID = "same" })},
	{"ids that count anew", 4, calls(func(i int, c *fakewire.Call) { c.ID = fmt.Sprint("call_", i+1) })},
	{"no ids", 4, calls(func(_ int, c *fakewire.Call) { c.ID = missing })},
	{"long ids", 3, calls(func(i int, c *fakewire.Call) { c.ID = strings.Repeat("x", 70) + fmt.Sprint(i) })},
	{"ids of 41 to 64 characters", 3, calls(func(i int, c *fakewire.Call) { c.ID = strings.Repeat("y", 50) + fmt.Sprint(i) })},
	{"odd ids", 2, calls(func(i int, c *fakewire.Call) { c.ID = fmt.Sprintf("functions.write:%d/é", i) })},
	{"tools that are not there", 2, calls(func(_ int, c *fakewire.Call) { c.Name = "no such tool!" })},
	{"arguments that are no JSON", 3, calls(func(_ int, c *fakewire.Call) { c.Input = `{"n": oops` })},
	{"arguments that are no object", 2, calls(func(_ int, c *fakewire.Call) { c.Input = `["n"]` })},
	{"arguments with a lone surrogate", 2, calls(func(_ int, c *fakewire.Call) { c.Input = `{"n":"\ud83d"}` })},
	{"no arguments", 2, calls(func(_ int, c *fakewire.Call) { c.Input = "" })},
	{"nothing at all", 2, func(_ *rand.Rand, p *plan) { p.reply = fakewire.Reply{Stop: model.StopEnd} }},
	{"blanks", 1, func(_ *rand.Rand, p *plan) { p.reply = fakewire.Reply{Text: " \n\n", Stop: model.StopEnd} }},
	{"thoughts alone", 2, func(_ *rand.Rand, p *plan) { p.reply = fakewire.Reply{Reasoning: "hm, hm", Stop: model.StopEnd} }},
}

// toolNames are the tools that replies call, the effective ones most.
var toolNames = strings.Fields("write write write slow read read big shot shot void odd boom deaf")

// call is a call with a nonce of its own.
func call(r *rand.Rand) fakewire.Call {
	return fakewire.Call{Name: toolNames[r.IntN(len(toolNames))], Input: fmt.Sprintf(`{"n":"n%x"}`, r.Uint64())}
}

// structured keeps to what a provider can say whose calls are no text but structures.
func (p *plan) structured() {
	for i, c := range p.reply.Calls {
		if !json.Valid([]byte(c.Input)) || c.Input[0] != '{' || strings.Contains(c.Input, `\ud83d`) {
			p.reply.Calls[i].Input = "{}"
		}
	}
}

// planFor makes a plan for a request in a format that has had so many rounds of calls.
func planFor(r *rand.Rand, format string, rounds int) *plan {
	p := &plan{fault: "none", reply: fakewire.Reply{Text: fmt.Sprintf("Answer %x, \u201cwell\u201d \U0001F600.", r.Uint32())}}
	if r.IntN(3) == 0 {
		p.reply.Reasoning = fmt.Sprintf("I think %x.", r.Uint32())
	}
	if rounds < 4 && r.IntN(100) < 55 {
		for range 1 + r.IntN(3) {
			p.reply.Calls = append(p.reply.Calls, call(r))
		}
	}
	if r.IntN(4) == 0 {
		p.reply.Delay = time.Duration(r.IntN(8)) * time.Millisecond
	}
	if r.IntN(100) >= 40 {
		return p
	}
	sum := 0
	for _, f := range faults {
		sum += f.weight
	}
	at := r.IntN(sum)
	for _, f := range faults {
		if at -= f.weight; at < 0 {
			p.fault = f.name
			f.strike(r, p)
			if format == "gemini" {
				p.structured()
			}
			break
		}
	}
	return p
}
