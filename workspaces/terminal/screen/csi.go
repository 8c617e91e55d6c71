package screen

// csi ends a control sequence.
func (s *Screen) csi(b byte) {
	p := &s.p
	if !(b == 'm' && p.inters == 0) {
		if b == 'b' && p.prefix == 0 && p.inters == 0 {
			s.repeat(p.arg(0, 1))
			return
		}
		s.joint = joint{}
	}
	if p.inters > 0 {
		s.csiMore(b)
		return
	}
	switch p.prefix {
	case 0:
		if !s.csiMove(b) {
			s.csiEdit(b)
		}
	case '?':
		switch b {
		case 'h', 'l':
			for i := range min(p.count, maxParams) {
				s.setPrivate(p.raw(i), b == 'h')
			}
		case 'J':
			s.eraseDisplay(p.raw(0))
		case 'K':
			s.eraseLine(p.raw(0))
		case 'n':
			s.reportStatus(p.raw(0), true)
		}
	case '>':
		if b == 'c' {
			s.reportDevice(true)
		}
	}
}

// csiMove are the sequences that only move the cursor.
func (s *Screen) csiMove(b byte) bool {
	p, n := &s.p, s.p.arg(0, 1)
	x, y := s.cur.x, s.cur.y
	switch b {
	case 'A', 'F':
		n = min(n, s.rows)
		if top := s.on.top; y >= top {
			n = min(n, y-top)
		}
		s.cur.y -= n
	case 'B', 'e', 'E':
		n = min(n, s.rows)
		if bottom := s.on.bottom; y <= bottom && b != 'e' {
			n = min(n, bottom-y)
		}
		s.cur.y += n
	case 'C', 'a':
		s.restrict()
		s.cur.x += min(n, s.cols)
	case 'D':
		s.restrict()
		s.cur.x -= min(n, s.cols)
	case 'G', '`':
		s.cur.x = min(n, s.cols) - 1
	case 'H', 'f':
		s.place(min(p.arg(1, 1), s.cols)-1, min(n, s.rows)-1)
		return true
	case 'd':
		s.place(x, min(n, s.rows)-1)
		return true
	case 'I':
		for range min(n, s.cols) {
			if s.cur.x < s.cols {
				s.cur.x = s.nextTab(s.cur.x)
			}
		}
		return true
	case 'Z':
		for range min(n, s.cols) {
			if s.cur.x < s.cols {
				s.cur.x = s.previousTab(s.cur.x)
			}
		}
		return true
	default:
		return false
	}
	if b == 'E' || b == 'F' {
		s.cur.x = 0
	}
	s.restrict()
	return true
}

// csiEdit are the sequences that change text, looks and modes.
func (s *Screen) csiEdit(b byte) {
	p, n := &s.p, s.p.arg(0, 1)
	inside := s.cur.y >= s.on.top && s.cur.y <= s.on.bottom
	switch b {
	case '@':
		s.restrict()
		s.line().insert(s.cur.x, n, s.blank())
	case 'P':
		s.restrict()
		s.line().remove(s.cur.x, n, s.blank())
	case 'X':
		s.restrict()
		s.line().erase(s.cur.x, s.cur.x+min(n, s.cols), s.blank())
	case 'L':
		s.restrict()
		if inside {
			s.shiftDown(s.cur.y, n, s.blank())
			s.cur.x = 0
		}
	case 'M':
		s.restrict()
		if inside {
			s.shiftUp(s.cur.y, n, s.blank())
			s.cur.x = 0
		}
	case 'S':
		s.shiftUp(s.on.top, n, s.blank())
	case 'T', '^':
		if p.count <= 1 {
			s.shiftDown(s.on.top, n, blank(pen{}))
		}
	case 'J':
		s.eraseDisplay(p.raw(0))
	case 'K':
		s.eraseLine(p.raw(0))
	case 'c':
		if p.raw(0) == 0 {
			s.reportDevice(false)
		}
	case 'g':
		s.clearTabs(p.raw(0))
	case 'h', 'l':
		for i := range min(p.count, maxParams) {
			s.setMode(p.raw(i), b == 'h')
		}
	case 'm':
		s.look()
	case 'n':
		s.reportStatus(p.raw(0), false)
	case 'r':
		s.setRegion(p.arg(0, 1), p.raw(1))
	case 's':
		s.on.saved = s.cur
	case 'u':
		s.restoreCursor()
	}
}

func (s *Screen) csiMore(b byte) {
	p := &s.p
	if p.inters != 1 {
		return
	}
	switch i := p.inter[0]; {
	case i == '!' && b == 'p' && p.prefix == 0:
		s.softReset()
	case i == ' ' && b == 'q' && p.prefix == 0:
		s.modes.cursor = 1
		if p.count > 0 {
			s.modes.cursor = min(max(p.raw(0), 0), 6)
		}
	case i == '$' && b == 'p':
		s.reportMode(p.raw(0), p.prefix == '?')
	}
}

// repeat writes the last character again.
func (s *Screen) repeat(n int) {
	if s.last == 0 || s.joint.kind == jointNone {
		return
	}
	r := s.last
	for range min(n, s.cols*s.rows) {
		s.joint = joint{}
		s.printRune(r)
	}
	s.joint = joint{}
}

func (s *Screen) setRegion(top, bottom int) {
	if bottom == 0 || bottom > s.rows {
		bottom = s.rows
	}
	if bottom > top {
		s.on.top, s.on.bottom = top-1, bottom-1
		s.place(0, 0)
	}
}

func (s *Screen) clearTabs(how int) {
	switch {
	case how == 0 && s.cur.x < s.cols:
		s.tabs[s.cur.x] = false
	case how == 3:
		clear(s.tabs)
	}
}

func (s *Screen) eraseLine(how int) {
	s.cur.x = min(s.cur.x, s.cols)
	l := s.line()
	switch how {
	case 0:
		l.erase(s.cur.x, s.cols, s.blank())
		if s.cur.x == 0 {
			l.wrapped = false
		}
	case 1:
		l.erase(0, s.cur.x+1, s.blank())
	case 2:
		l.reset(s.blank(), s.cols)
	}
}

func (s *Screen) eraseDisplay(how int) {
	s.cur.x = min(s.cur.x, s.cols)
	clearLines := func(from, to int) {
		for y := from; y < to; y++ {
			s.on.lines[y].reset(s.blank(), s.cols)
		}
	}
	switch how {
	case 0:
		s.eraseLine(0)
		clearLines(s.cur.y+1, s.rows)
	case 1:
		s.eraseLine(1)
		s.line().wrapped = false
		if s.cur.x+1 >= s.cols && s.cur.y+1 < s.rows {
			s.on.lines[s.cur.y+1].wrapped = false
		}
		clearLines(0, s.cur.y)
	case 2:
		clearLines(0, s.rows)
	case 3:
		s.back.clear()
	}
}
