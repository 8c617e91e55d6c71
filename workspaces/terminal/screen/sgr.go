package screen

import "strconv"

// look takes the parameters of SGR.
func (s *Screen) look() {
	p, pen := &s.p, &s.cur.pen
	count := min(p.count, maxParams)
	if count == 0 {
		pen.take(0)
		return
	}
	for i := 0; i < count; i++ {
		n := p.raw(i)
		subs := 0
		for i+subs+1 < count && p.sub[i+subs+1] {
			subs++
		}
		switch {
		case n == 4 && subs > 0:
			pen.underline(p.raw(i + 1))
		case n == 38 || n == 48 || n == 58:
			i += s.colour(n, i, count, subs)
			continue
		default:
			pen.take(n)
		}
		i += subs
	}
}

// colour reads 38, 48 or 58 with what follows, and says how many parameters that are.
func (s *Screen) colour(n, i, count, subs int) int {
	p := &s.p
	target := map[int]*uint32{38: &s.cur.pen.fg, 48: &s.cur.pen.bg, 58: &s.cur.pen.ul}[n]
	args, skip := subs, 0
	if subs == 0 {
		args = count - i - 1
	}
	at := func(k int) int { return p.raw(i + k) }
	switch {
	case args >= 2 && at(1) == 5:
		*target = indexed | uint32(at(2)&0xff)
		skip = 2
	case args >= 4 && at(1) == 2:
		from := 2
		if subs >= 5 { // a colour space comes first
			from = 3
		}
		*target = direct | uint32(at(from)&0xff)<<16 | uint32(at(from+1)&0xff)<<8 | uint32(at(from+2)&0xff)
		skip = 4
	default:
		skip = min(args, 1)
	}
	if subs > 0 {
		return subs
	}
	return skip
}

func (p *pen) underline(style int) {
	p.flags = p.flags&^underlineMask | uint16(min(max(style, 0), 5))<<underlineShift
}

// take changes the pen by one parameter without arguments.
func (p *pen) take(n int) {
	switch {
	case n == 0:
		*p = pen{link: p.link}
	case n >= 30 && n <= 37:
		p.fg = basic | uint32(n-30)
	case n >= 40 && n <= 47:
		p.bg = basic | uint32(n-40)
	case n >= 90 && n <= 97:
		p.fg = basic | uint32(n-82)
	case n >= 100 && n <= 107:
		p.bg = basic | uint32(n-92)
	case n == 39:
		p.fg = 0
	case n == 49:
		p.bg = 0
	case n == 59:
		p.ul = 0
	default:
		p.flag(n)
	}
}

func (p *pen) flag(n int) {
	switch n {
	case 1:
		p.flags |= bold
	case 2:
		p.flags |= dim
	case 3:
		p.flags |= italic
	case 4:
		p.underline(1)
	case 5:
		p.flags |= blink
	case 7:
		p.flags |= inverse
	case 8:
		p.flags |= hidden
	case 9:
		p.flags |= strike
	case 21:
		p.underline(2)
	case 22:
		p.flags &^= bold | dim
	case 23:
		p.flags &^= italic
	case 24:
		p.underline(0)
	case 25:
		p.flags &^= blink
	case 27:
		p.flags &^= inverse
	case 28:
		p.flags &^= hidden
	case 29:
		p.flags &^= strike
	case 53:
		p.flags |= overline
	case 55:
		p.flags &^= overline
	}
}

// appendLook adds the sequence that makes any pen this one.
func appendLook(b []byte, p pen) []byte {
	b = append(b, "\x1b[0"...)
	for _, f := range [...]struct {
		flag uint16
		n    string
	}{{bold, ";1"}, {dim, ";2"}, {italic, ";3"}, {blink, ";5"}, {inverse, ";7"}, {hidden, ";8"}, {strike, ";9"}, {overline, ";53"}} {
		if p.flags&f.flag != 0 {
			b = append(b, f.n...)
		}
	}
	if style := p.flags & underlineMask >> underlineShift; style != 0 {
		b = append(b, ";4:"...)
		b = append(b, byte('0'+style))
	}
	b = appendColour(b, 38, p.fg)
	b = appendColour(b, 48, p.bg)
	b = appendColour(b, 58, p.ul)
	return append(b, 'm')
}

func appendColour(b []byte, n int64, c uint32) []byte {
	if c == 0 {
		return b
	}
	number := func(sep string, v uint32) {
		b = append(b, sep...)
		b = strconv.AppendUint(b, uint64(v&0xff), 10)
	}
	b = append(b, ';')
	switch c & kinds {
	case basic:
		n -= 8 // 30 or 40
		if c &= 0xff; c >= 8 {
			n += 52 // 90 or 100, from 8 on
		}
		return strconv.AppendInt(b, n+int64(c), 10)
	case indexed:
		b = strconv.AppendInt(b, n, 10)
		b = append(b, ":5"...)
		number(":", c)
	default:
		b = strconv.AppendInt(b, n, 10)
		b = append(b, ":2:"...) // without a colour space
		number(":", c>>16)
		number(":", c>>8)
		number(":", c)
	}
	return b
}
