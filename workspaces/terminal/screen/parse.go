package screen

import "unicode/utf8"

// state is the parser's: the well-known machine of the VT500 series, over runes.
type state uint8

const (
	ground state = iota
	escape
	escapeMore // intermediates were read
	csiStart   // nothing but a prefix may still come
	csiParam
	csiMore   // intermediates were read
	csiIgnore // until its final byte
	oscText
	dcsStart
	dcsParam
	dcsMore
	dcsIgnore
	dcsText
	apcText // also PM and SOS: read and dropped
)

const (
	maxParams  = 32
	maxParam   = 1<<31 - 1
	maxString  = 8 << 10 // bytes of a string that are looked at
	maxPartial = 2 << 10 // bytes of an unfinished sequence that a snapshot ends with
)

// parser keeps what a sequence has said so far.
type parser struct {
	state   state
	prefix  byte // of a CSI or DCS: < = > ?
	inter   [2]byte
	inters  int
	params  [maxParams]int32 // -1: not given
	sub     [maxParams]bool  // the parameter continues the one before, after a colon
	count   int
	text    []byte // of a string
	partial []byte // the bytes of the sequence that is unfinished
	rune    [utf8.UTFMax]byte
	runes   int // bytes of an unfinished rune
}

// Write reads what a program wrote.
func (s *Screen) Write(data []byte) (int, error) {
	n := len(data)
	for len(data) > 0 {
		if s.p.state == ground && s.p.runes == 0 {
			if plain := plainRun(data); plain > 0 {
				s.printASCII(data[:plain])
				data = data[plain:]
				continue
			}
		}
		b := data[0]
		if b < utf8.RuneSelf && s.p.runes == 0 {
			s.step(rune(b), data[:1])
			data = data[1:]
			continue
		}
		data = data[s.decode(b):]
	}
	return n, nil
}

// plainRun counts the printable ASCII at the front.
func plainRun(data []byte) int {
	for i, b := range data {
		if b < 0x20 || b > 0x7e {
			return i
		}
	}
	return len(data)
}

// decode takes a byte of a rune that is not ASCII. Bytes that are no UTF-8 are dropped, as xterm.js does. It
// returns how many bytes it took: 0 when b ends an unfinished rune and must be read again.
func (s *Screen) decode(b byte) int {
	p := &s.p
	if p.runes == 0 {
		if b >= 0xc2 && b <= 0xf4 {
			p.rune[0], p.runes = b, 1
		}
		return 1
	}
	if b&0xc0 != 0x80 {
		p.runes = 0
		return 0
	}
	p.rune[p.runes] = b
	p.runes++
	if !utf8.FullRune(p.rune[:p.runes]) {
		return 1
	}
	r, size := utf8.DecodeRune(p.rune[:p.runes])
	whole := p.rune[:p.runes]
	p.runes = 0
	if r == utf8.RuneError && size == 1 || r == 0xfeff {
		return 1
	}
	s.step(r, whole)
	return 1
}

// step takes one rune; raw are its bytes.
func (s *Screen) step(r rune, raw []byte) {
	p := &s.p
	s.move(r)
	switch {
	case p.state == ground:
		p.partial = p.partial[:0]
	case r == 0x1b: // a sequence that was unfinished is over
		p.partial = append(p.partial[:0], raw...)
	case len(p.partial) < maxPartial:
		p.partial = append(p.partial, raw...)
	}
}

func (s *Screen) move(r rune) {
	p := &s.p
	switch {
	case r == 0x18, r == 0x1a:
		p.state = ground
		return
	case r == 0x1b:
		if p.state == oscText || p.state == dcsText {
			s.endString(false)
		}
		p.begin(escape)
		return
	case r >= 0x80 && r < 0xa0:
		s.c1(r)
		return
	}
	switch p.state {
	case ground:
		if r < 0x20 {
			s.control(r)
		} else if r != 0x7f {
			s.printRune(r)
		}
	case escape, escapeMore:
		s.moveEscape(r)
	case csiStart, csiParam, csiMore, csiIgnore:
		s.moveCSI(r)
	case dcsStart, dcsParam, dcsMore, dcsIgnore:
		s.moveDCS(r)
	case oscText:
		if r == 0x07 {
			s.endString(true)
		} else if r >= 0x20 {
			p.put(r)
		}
	case dcsText:
		if r != 0x7f {
			p.put(r)
		}
	case apcText:
	}
}

// c1 takes a control that is one rune in place of ESC and a letter.
func (s *Screen) c1(r rune) {
	p := &s.p
	if p.state == oscText || p.state == dcsText {
		s.endString(r == 0x9c)
	}
	p.begin(ground)
	switch r {
	case 0x84, 0x85, 0x88, 0x8d:
		s.escapeFinal(byte(r - 0x40))
	case 0x90:
		p.begin(dcsStart)
	case 0x98, 0x9e, 0x9f:
		p.begin(apcText)
	case 0x9b:
		p.begin(csiStart)
	case 0x9d:
		p.begin(oscText)
	}
}

func (p *parser) begin(next state) {
	p.state, p.prefix, p.inters, p.count, p.text = next, 0, 0, 0, p.text[:0]
}

func (p *parser) put(r rune) {
	if len(p.text) < maxString {
		p.text = utf8.AppendRune(p.text, r)
	}
}

func (p *parser) intermediate(r rune) {
	if p.inters < len(p.inter) {
		p.inter[p.inters] = byte(r)
	}
	p.inters++
}

func (s *Screen) moveEscape(r rune) {
	p := &s.p
	switch {
	case r < 0x20:
		s.control(r)
	case r < 0x30:
		p.intermediate(r)
		p.state = escapeMore
	case r == 0x7f:
	case r > 0x7f:
		p.state = ground
	case p.state == escapeMore:
		p.state = ground
		s.escapeMoreFinal(byte(r))
	default:
		switch r {
		case '[':
			p.begin(csiStart)
		case ']':
			p.begin(oscText)
		case 'P':
			p.begin(dcsStart)
		case 'X', '^', '_':
			p.begin(apcText)
		default:
			p.state = ground
			s.escapeFinal(byte(r))
		}
	}
}

func (s *Screen) moveCSI(r rune) {
	p := &s.p
	switch {
	case r < 0x20:
		s.control(r)
	case r == 0x7f:
	case r > 0x7f:
		if p.state != csiIgnore {
			p.state = ground
		}
	case r >= 0x40:
		ignored := p.state == csiIgnore
		p.state = ground
		if !ignored {
			s.csi(byte(r))
		}
	case p.state == csiIgnore:
	case r < 0x30:
		p.intermediate(r)
		p.state = csiMore
	case p.state == csiMore:
		p.state = csiIgnore
	case r >= 0x3c:
		if p.state != csiStart {
			p.state = csiIgnore
			return
		}
		p.prefix, p.state = byte(r), csiParam
	default:
		p.param(byte(r))
		p.state = csiParam
	}
}

func (s *Screen) moveDCS(r rune) {
	p := &s.p
	switch {
	case r < 0x20 || r == 0x7f:
	case r > 0x7f:
		if p.state != dcsIgnore {
			p.state = ground
		}
	case r >= 0x40:
		if p.state == dcsIgnore {
			return
		}
		p.inter[1] = byte(r) // the final; what follows is text
		p.text = p.text[:0]
		p.state = dcsText
	case p.state == dcsIgnore:
	case r < 0x30:
		p.intermediate(r)
		p.state = dcsMore
	case p.state == dcsMore || r >= 0x3c && p.state != dcsStart:
		p.state = dcsIgnore
	case r >= 0x3c:
		p.prefix, p.state = byte(r), dcsParam
	default:
		p.param(byte(r))
		p.state = dcsParam
	}
}

// param takes a digit, a semicolon or a colon.
func (p *parser) param(b byte) {
	if p.count == 0 {
		p.params[0], p.sub[0], p.count = -1, false, 1
	}
	at := &p.params[min(p.count, maxParams)-1]
	switch {
	case b == ';' || b == ':':
		p.count++
		if p.count <= maxParams {
			p.params[p.count-1], p.sub[p.count-1] = -1, b == ':'
		}
	case p.count <= maxParams:
		*at = int32(min(int64(max(*at, 0))*10+int64(b-'0'), maxParam))
	}
}

// arg gives a parameter, or def when it is not given or zero.
func (p *parser) arg(i, def int) int {
	if i >= min(p.count, maxParams) || p.params[i] <= 0 {
		return def
	}
	return int(p.params[i])
}

// raw gives a parameter, 0 when it is not given.
func (p *parser) raw(i int) int { return p.arg(i, 0) }
