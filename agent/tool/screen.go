package tool

import (
	"bytes"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi/parser"
)

const (
	// maxLine is how many characters of a line can still be rewritten; what a longer line begins
	// with is passed on at once, so that memory stays bounded.
	maxLine = 8 << 10
	// maxColumn is the largest parameter of a sequence, and so how far a cursor move goes: a few
	// bytes must not make a page of blanks.
	maxColumn = 1000
	// maxSequence ends a control sequence that never ends, before it hides the rest of the output.
	maxSequence = 4 << 10
)

// screen turns what a command writes for a terminal into plain text: each line as it looked at
// last, without control sequences, in valid UTF-8. It is given the bytes in any pieces.
type screen struct {
	line func(text []byte) // gets finished text: whole lines, or the beginning of a very long one
	live func(text []byte) // gets the text as it comes, with carriage returns and colours; nil when not wanted

	parser  sequences
	partial []byte // the beginning of a character
	row     []rune // the line being written
	column  int
	hidden  int // bytes of the control sequence being read
	liveBuf []byte
	scratch []byte
}

func newScreen(line, live func([]byte)) *screen {
	s := &screen{line: line, live: live}
	s.parser = sequences{print: s.put, execute: s.control, csi: s.sequence}
	return s
}

// Write takes the next bytes. It never fails.
func (s *screen) Write(p []byte) (int, error) {
	n := len(p)
	if len(s.partial) > 0 {
		p = append(s.partial, p...)
		s.partial = nil
	}
	for len(p) > 0 {
		if p[0] < utf8.RuneSelf {
			p = s.ascii(p)
			continue
		}
		if !utf8.FullRune(p) {
			s.partial = bytes.Clone(p)
			break
		}
		r, size := utf8.DecodeRune(p)
		p = p[size:]
		s.char(r)
	}
	s.flushLive()
	return n, nil
}

// finish passes on a last line without an end.
func (s *screen) finish() {
	if len(s.partial) > 0 {
		s.char(utf8.RuneError)
		s.partial = nil
	}
	s.emit(false)
	s.flushLive()
}

// ascii handles the ASCII bytes that p begins with and gives the rest.
func (s *screen) ascii(p []byte) []byte {
	for i, b := range p {
		switch {
		case b >= utf8.RuneSelf:
			return p[i:]
		case s.parser.state == parser.GroundState && b >= ' ' && b < 0x7f:
			s.put(rune(b))
		default:
			s.parser.advance(b)
			s.guard()
		}
	}
	return nil
}

// guard gives up on a control sequence that is longer than any real one.
func (s *screen) guard() {
	if s.parser.state == parser.GroundState {
		s.hidden = 0
		return
	}
	if s.hidden++; s.hidden > maxSequence {
		s.parser.reset()
		s.hidden = 0
	}
}

// char handles a character outside ASCII. The parser is not asked: to it, some bytes of such
// characters are controls.
func (s *screen) char(r rune) {
	switch s.parser.state {
	case parser.OscStringState, parser.DcsStringState, parser.SosStringState, parser.PmStringState, parser.ApcStringState:
		s.guard()
		return
	case parser.GroundState:
	default:
		s.parser.reset()
		s.hidden = 0
	}
	if r >= 0x80 && r < 0xa0 { // the controls of Latin-1
		r = utf8.RuneError
	}
	s.put(r)
}

// put writes a character at the cursor.
func (s *screen) put(r rune) {
	for len(s.row) < s.column {
		s.row = append(s.row, ' ')
	}
	if s.column < len(s.row) {
		s.row[s.column] = r
	} else {
		s.row = append(s.row, r)
	}
	s.column++
	if s.live != nil {
		s.liveBuf = utf8.AppendRune(s.liveBuf, r)
	}
	if len(s.row) >= maxLine && s.column == len(s.row) {
		s.emit(false)
	}
}

func (s *screen) control(b byte) {
	switch b {
	case '\n', '\v', '\f':
		s.emit(true)
		s.showLive('\n')
	case '\r':
		s.column = 0
		s.showLive('\r')
	case '\b':
		s.column = max(0, s.column-1)
	case '\t':
		s.put('\t')
	}
}

// sequence obeys the control sequences that redraw a line. The others only place or colour text.
func (s *screen) sequence(final byte, n int) {
	switch final {
	case 'm':
		s.showColour()
	case 'K':
		s.erase(n)
	case 'G':
		s.column = max(n, 1) - 1
		if s.column == 0 {
			s.showLive('\r')
		}
	case 'C':
		s.column = min(s.column+max(n, 1), maxLine-1)
	case 'D':
		s.column = max(s.column-max(n, 1), 0)
	}
}

// erase clears the line from the cursor on (0), up to it (1) or all of it (2).
func (s *screen) erase(what int) {
	switch what {
	case 0:
		s.row = s.row[:min(s.column, len(s.row))]
	case 1:
		for i := range min(s.column+1, len(s.row)) {
			s.row[i] = ' '
		}
	case 2:
		s.row = s.row[:0]
	}
}

// emit passes the line on.
func (s *screen) emit(end bool) {
	s.scratch = s.scratch[:0]
	for _, r := range s.row {
		s.scratch = utf8.AppendRune(s.scratch, r)
	}
	if end {
		s.scratch = append(s.scratch, '\n')
	}
	s.row, s.column = s.row[:0], 0
	if len(s.scratch) > 0 {
		s.line(s.scratch)
	}
}

func (s *screen) showLive(b byte) {
	if s.live != nil {
		s.liveBuf = append(s.liveBuf, b)
	}
}

// showColour passes a sequence on that colours what follows. The parser has checked its parameters.
func (s *screen) showColour() {
	if s.live != nil {
		s.liveBuf = append(s.liveBuf, "\x1b["...)
		s.liveBuf = append(append(s.liveBuf, s.parser.params...), 'm')
	}
}

func (s *screen) flushLive() {
	if s.live != nil && len(s.liveBuf) > 0 {
		s.live(s.liveBuf)
		s.liveBuf = s.liveBuf[:0]
	}
}
