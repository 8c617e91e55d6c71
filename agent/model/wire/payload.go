package wire

import (
	"bytes"
	"io"
	"net"
	"strings"

	"carrel/agent/model"
)

// Payload is a request's body in pieces that are shared with other requests and never change.
type Payload struct {
	chunks [][]byte
	size   int64
	cache  *Cache // with the conversation's history under key; nil: it is not kept
	key    string
}

// Size is the length of the body, in bytes.
func (p *Payload) Size() int64 { return p.size }

// Reader reads the body from its start. It need not be closed.
func (p *Payload) Reader() io.ReadCloser { return &payloadReader{left: p.chunks} }

// Bytes is the body in one piece, a copy.
func (p *Payload) Bytes() []byte { return bytes.Join(p.chunks, nil) }

func (p *Payload) add(b ...[]byte) {
	for _, c := range b {
		p.size += int64(len(c))
	}
	p.chunks = append(p.chunks, b...)
}

type payloadReader struct {
	left [][]byte
	from int // in the first of left
}

// Close does nothing. Without it package http would hide what this reader is; see gathering.
func (r *payloadReader) Close() error { return nil }

// Read fills b across the borders of pieces, so that they become few writes.
func (r *payloadReader) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) && len(r.left) > 0 {
		k := copy(b[n:], r.left[0][r.from:])
		n += k
		if r.from += k; r.from == len(r.left[0]) {
			r.left, r.from = r.left[1:], 0
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// WriteTo writes the rest of the body.
func (r *payloadReader) WriteTo(w io.Writer) (int64, error) {
	var n int64
	for len(r.left) > 0 {
		k, err := w.Write(r.left[0][r.from:])
		n += int64(k)
		if err != nil {
			return n, err
		}
		r.left, r.from = r.left[1:], 0
	}
	return n, nil
}

// gather writes the rest of the body, at most so many bytes, with as few calls as the system allows.
func (r *payloadReader) gather(conn *net.TCPConn, most int64) (int64, error) {
	all := make(net.Buffers, 0, len(r.left))
	for i, piece := range r.left {
		if i == 0 {
			piece = piece[r.from:]
		}
		if piece = piece[:min(int64(len(piece)), most)]; len(piece) == 0 {
			continue
		}
		all, most = append(all, piece), most-int64(len(piece))
	}
	n, err := all.WriteTo(conn)
	r.skip(n)
	return n, err
}

func (r *payloadReader) skip(n int64) {
	for len(r.left) > 0 && n >= int64(len(r.left[0])-r.from) {
		n -= int64(len(r.left[0]) - r.from)
		r.left, r.from = r.left[1:], 0
	}
	r.from += int(n)
}

// pieces of JSON between the messages.
var (
	comma   = []byte(",")
	endList = []byte("]}")
)

// assemble puts a body together.
func assemble(b Body, messages []encoded) *Payload {
	p := &Payload{chunks: make([][]byte, 0, 2*len(messages)+8)}
	head := appendValue(nil, b.Head)
	head = append(head[:len(head)-1], ',')
	if len(b.Head) == 0 {
		head = head[:1]
	}
	head = append(appendString(head, b.List), ":["...)
	for i, item := range b.First {
		if i > 0 {
			head = append(head, ',')
		}
		head = appendValue(head, item)
	}
	p.add(head)
	if b.Group == "" {
		p.flat(messages, len(b.First) == 0)
	} else {
		p.grouped(b, messages, len(b.First) == 0)
	}
	p.add(endList)
	return p
}

func (p *Payload) flat(messages []encoded, first bool) {
	for _, m := range messages {
		if len(m.json) == 0 {
			continue
		}
		if !first {
			p.add(comma)
		}
		first = false
		p.add(m.json)
	}
}

// grouped writes neighbours of one side as one item. marked holds where the marks go: the messages
// that are the last of their group.
func (p *Payload) grouped(b Body, messages []encoded, first bool) {
	marked := marks(messages, b.Marks)
	cut, mark := 1, []byte(","+b.Mark+"}")
	if strings.HasPrefix(b.Mark, "{") {
		cut, mark = 0, mark[:len(mark)-1]
	}
	start := [2][]byte{groupStart(b.User, model.User, b.Group), groupStart(b.Assistant, model.Assistant, b.Group)}
	var next [2][]byte // the end of a group and the start of the next one, as one piece: there are many
	for side := range start {
		next[side] = bytes.Join([][]byte{endList, comma, start[side]}, nil)
	}
	open, assistant := false, false
	for i, m := range messages {
		if len(m.json) == 0 {
			continue
		}
		side := 0
		if m.assistant {
			side = 1
		}
		switch {
		case open && m.assistant == assistant:
			p.add(comma)
		case open:
			p.add(next[side])
		case first:
			p.add(start[side])
		default:
			p.add(comma, start[side])
		}
		open, assistant = true, m.assistant
		if marked[i] {
			p.add(m.json[:len(m.json)-cut], mark)
		} else {
			p.add(m.json)
		}
	}
	if open {
		p.add(endList)
	}
}

// marks finds the last messages of the last n groups of the user's side.
func marks(messages []encoded, n int) map[int]bool {
	out := map[int]bool{}
	assistant := true
	for i := len(messages) - 1; i >= 0 && n > 0; i-- {
		if len(messages[i].json) == 0 {
			continue
		}
		if !messages[i].assistant && assistant {
			out[i] = true
			n--
		}
		assistant = messages[i].assistant
	}
	return out
}

func groupStart(role string, side model.Role, list string) []byte {
	if role == "" {
		role = string(side)
	}
	out := append(appendString([]byte(`{"role":`), role), ',')
	return append(appendString(out, list), ":["...)
}
