package fakewire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

// object is a JSON object to send.
type object = map[string]any

// stream sends one reply.
type stream struct {
	w      http.ResponseWriter
	req    *http.Request
	reply  Reply
	framer framer // nil: server-sent events
	bytes  int
	events int
	over   bool // nothing more can be sent
}

func (s *stream) play(f format, r Request) {
	if s.reply.Hang == HangHeaders {
		<-s.req.Context().Done()
		return
	}
	if s.reply.Status != 0 && s.reply.Status != http.StatusOK {
		writeError(s.w, r.Format, s.reply)
		return
	}
	s.w.Header().Set("Content-Type", "text/event-stream")
	if s.framer, _ = f.(framer); s.framer != nil {
		s.w.Header().Set("Content-Type", s.framer.media())
	}
	s.w.Header().Set("Request-Id", "req_fake")
	s.w.WriteHeader(http.StatusOK)
	s.flush()
	if s.hang(HangStart) || s.hang(HangLine) || s.hang(HangComments) {
		return
	}
	if s.reply.Raw != nil {
		s.write(string(s.reply.Raw))
	} else {
		f.content(s, r)
		s.finish(f, r)
	}
	s.hang(HangOpen)
}

func (s *stream) finish(f format, r Request) {
	if s.over || s.hang(HangEnd) {
		return
	}
	if s.reply.Block != nil {
		select {
		case <-s.reply.Block:
		case <-s.req.Context().Done():
			return
		}
	}
	if s.reply.ErrorType != "" {
		f.fail(s)
		return
	}
	f.end(s, r)
}

// hang falls silent when the reply says so at this point.
func (s *stream) hang(at Hang) bool {
	if s.reply.Hang != at {
		return false
	}
	switch at {
	case HangLine:
		half := `data: {"ty`
		if s.framer != nil {
			half = s.framer.beat()[:10]
		}
		s.write(half)
	case HangComments:
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for s.req.Context().Err() == nil {
			beat := ": keep-alive\n\n"
			if s.framer != nil {
				beat = s.framer.beat()
			}
			s.write(beat)
			select {
			case <-tick.C:
			case <-s.req.Context().Done():
			}
		}
	case HangNone, HangHeaders, HangStart, HangEnd, HangOpen:
	}
	<-s.req.Context().Done()
	return true
}

// deltas sends a text in pieces.
func (s *stream) deltas(text string, send func(piece string)) {
	for _, piece := range s.reply.chunks(text) {
		if s.reply.Delay > 0 {
			t := time.NewTimer(s.reply.Delay)
			select {
			case <-t.C:
			case <-s.req.Context().Done():
				t.Stop()
			}
		}
		if s.over || s.req.Context().Err() != nil {
			return
		}
		send(piece)
	}
}

// event sends one event; name may be empty.
func (s *stream) event(name string, v any) {
	s.line(name, string(encode(v)))
}

// encode writes JSON as the real servers do, without escaping what only HTML must.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // the values are ours
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (s *stream) line(name, data string) {
	if s.over {
		return
	}
	if s.framer != nil {
		s.send(s.framer.frame(name, data))
		return
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	s.send(name + "data: " + data + "\n\n")
}

// send sends an event as it is on the wire.
func (s *stream) send(event string) {
	s.write(event)
	if s.events++; s.events == s.reply.CutAfterEvents {
		s.cut()
	}
}

func (s *stream) write(text string) {
	if s.over {
		return
	}
	cut := s.reply.CutAfterBytes > 0 && s.bytes+len(text) >= s.reply.CutAfterBytes
	if cut {
		text = text[:s.reply.CutAfterBytes-s.bytes]
	}
	s.bytes += len(text)
	if _, err := s.w.Write([]byte(text)); err != nil {
		s.over = true
		return
	}
	s.flush()
	if cut {
		s.cut()
	}
}

// cut closes the connection without the end of the response.
func (s *stream) cut() {
	s.over = true
	conn, _, err := http.NewResponseController(s.w).Hijack()
	if err == nil {
		_ = conn.Close() // it breaks on purpose
	}
}

func (s *stream) flush() {
	if err := http.NewResponseController(s.w).Flush(); err != nil {
		s.over = true
	}
}

// framer is a format whose streams are no server-sent events.
type framer interface {
	media() string // the media type
	frame(name, data string) string
	beat() string // a sign of life
}

// writeError sends an error response in the format's form.
func writeError(w http.ResponseWriter, format string, r Reply) {
	w.Header().Set("Content-Type", "application/json")
	if r.RetryAfter != "" {
		w.Header().Set("Retry-After", r.RetryAfter)
	}
	if format == "bedrock" || format == "converse" {
		writeException(w, r)
		return
	}
	w.WriteHeader(r.Status)
	e := object{"type": r.ErrorType, "message": r.ErrorMessage}
	body := object{"error": e}
	switch format {
	case "anthropic":
		body = object{"type": "error", "error": e, "request_id": "req_fake"}
	case "gemini":
		body = geminiError(r)
	default:
		e["param"], e["code"] = nil, nil
		if r.ErrorType == "context_length_exceeded" || r.ErrorType == "insufficient_quota" {
			e["code"] = r.ErrorType
		}
	}
	_, _ = w.Write(encode(body)) // the client may be gone
}
