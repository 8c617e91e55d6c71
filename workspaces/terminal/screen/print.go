package screen

// printASCII writes printable ASCII.
func (s *Screen) printASCII(text []byte) {
	if s.cur.sets[s.cur.shift] != 'B' || s.modes.insert || !s.modes.wraps() {
		for _, b := range text {
			s.printRune(rune(b))
		}
		return
	}
	s.last, s.joint = rune(text[len(text)-1]), joint{jointOther, 1}
	c := cell{pen: s.cur.pen, w: 1}
	for len(text) > 0 {
		if s.cur.x >= s.cols {
			s.wrap()
		}
		l := s.line()
		x := s.cur.x
		n := min(len(text), s.cols-x)
		if x > 0 && l.cells[x-1].w == 2 {
			l.set(x-1, cell{pen: s.cur.pen, w: 1})
		}
		row := l.cells[x : x+n]
		for i, b := range text[:n] {
			c.ch = int32(b)
			row[i] = c
		}
		x += n
		l.used = max(l.used, x)
		s.mendRight(l, x)
		s.cur.x, text = x, text[n:]
	}
}

// mendRight erases the second half of a wide character that lost its first.
func (s *Screen) mendRight(l *line, x int) {
	if x < s.cols && l.cells[x].w == 0 {
		l.set(x, cell{pen: s.cur.pen, w: 1})
	}
}

// wrap continues on the next line.
func (s *Screen) wrap() {
	s.cur.x = 0
	s.cur.y++
	if s.cur.y == s.on.bottom+1 {
		s.cur.y--
		s.scroll(true)
		return
	}
	s.cur.y = min(s.cur.y, s.rows-1)
	s.line().wrapped = true
}

// printRune writes one character, or adds a rune to the one before it.
func (s *Screen) printRune(r rune) {
	if s.cur.sets[s.cur.shift] == '0' && r >= 0x5f && r < 0x7f {
		r = drawing[r-0x5f]
	}
	joins, width, after := s.joint.next(r, classOf(r))
	s.last, s.joint = r, after
	if joins && s.join(r, width) {
		return
	}
	if s.cur.x+width > s.cols {
		if !s.modes.wraps() {
			s.cur.x = s.cols - 1
			if width == 2 {
				return
			}
		} else {
			if s.cur.x < s.cols {
				s.line().erase(s.cur.x, s.cols, cell{pen: s.cur.pen, w: 1})
			}
			s.wrap()
		}
	}
	s.put(cell{ch: r, pen: s.cur.pen, w: uint8(width)})
}

// put writes a cell at the cursor.
func (s *Screen) put(c cell) {
	l, x := s.line(), s.cur.x
	if x > 0 && l.cells[x-1].w == 2 {
		l.set(x-1, cell{pen: s.cur.pen, w: 1})
	}
	if s.modes.insert {
		l.insert(x, int(c.w), s.blank())
		if l.cells[s.cols-1].w == 2 {
			l.set(s.cols-1, cell{pen: s.cur.pen, w: 1})
		}
	}
	s.overwrite(c)
}

// overwrite writes a cell at the cursor, also in insert mode.
func (s *Screen) overwrite(c cell) {
	l, x := s.line(), s.cur.x
	l.set(x, c)
	x++
	if c.w == 2 && x < s.cols {
		l.set(x, cell{pen: s.cur.pen})
		x++
	}
	s.mendRight(l, x)
	s.cur.x = x
}

// join adds a rune to the character before the cursor, which is then at least width wide.
func (s *Screen) join(r rune, width int) bool {
	x, before := s.before()
	if before == nil || before.ch == 0 {
		return false
	}
	c := *before
	c.ch = s.clusters.add(c.ch, r)
	grows := width > int(c.w)
	c.w = max(c.w, uint8(width))
	l := s.line()
	switch {
	case !grows:
		l.set(x, c)
	case x+width <= s.cols:
		s.cur.x = x
		s.overwrite(c)
	case s.modes.wraps(): // it grows over the edge
		l.set(x, s.blank())
		s.cur.x = x
		s.wrap()
		s.overwrite(c)
	}
	return true
}

// drawing are the characters of DEC's line drawing set, from 0x5f.
var drawing = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│',
	'≤', '≥', 'π', '≠', '£', '·',
}
