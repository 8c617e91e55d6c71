package screen

// control takes a control character.
func (s *Screen) control(r rune) {
	switch r {
	case 0x07:
		s.notes.Bells++
	case 0x08:
		s.restrict()
		if s.cur.x > 0 {
			s.cur.x--
		}
	case 0x09:
		if s.cur.x < s.cols {
			s.cur.x = s.nextTab(s.cur.x)
		}
	case 0x0a, 0x0b, 0x0c:
		s.lineFeed()
	case 0x0d:
		s.cur.x = 0
	case 0x0e:
		s.cur.shift = 1
	case 0x0f:
		s.cur.shift = 0
	default:
		return
	}
	s.joint = joint{}
}

func (s *Screen) nextTab(x int) int {
	for x++; x < s.cols && !s.tabs[x]; x++ {
	}
	return min(x, s.cols-1)
}

func (s *Screen) previousTab(x int) int {
	for x--; x > 0 && !s.tabs[x]; x-- {
	}
	return max(x, 0)
}

// escapeFinal ends ESC and one letter.
func (s *Screen) escapeFinal(b byte) {
	s.joint = joint{}
	switch b {
	case '7':
		s.on.saved = s.cur
	case '8':
		s.restoreCursor()
	case '=':
		s.modes.keypad = true
	case '>':
		s.modes.keypad = false
	case 'D':
		s.restrict()
		s.index()
	case 'E':
		s.cur.x = 0
		s.index()
	case 'H':
		if s.cur.x < s.cols {
			s.tabs[s.cur.x] = true
		}
	case 'M':
		s.restrict()
		if s.cur.y == s.on.top {
			s.shiftDown(s.cur.y, 1, s.blank())
		} else if s.cur.y > 0 {
			s.cur.y--
		}
	case 'c':
		s.reset()
		s.notes.Reset = true
	case 'n':
		s.cur.shift = 2
	case 'o':
		s.cur.shift = 3
	}
}

// index goes down one line, scrolling at the region's end.
func (s *Screen) index() {
	s.cur.y++
	if s.cur.y == s.on.bottom+1 {
		s.cur.y--
		s.scroll(false)
	} else if s.cur.y >= s.rows {
		s.cur.y = s.rows - 1
	}
	s.restrict()
}

func (s *Screen) restoreCursor() {
	saved := s.on.saved
	saved.origin = s.cur.origin
	s.cur = saved
	s.restrict()
}

// escapeMoreFinal ends an escape sequence with intermediates.
func (s *Screen) escapeMoreFinal(b byte) {
	s.joint = joint{}
	if s.p.inters != 1 {
		return
	}
	switch i := s.p.inter[0]; i {
	case '(', ')', '*', '+':
		if b != '0' {
			b = 'B'
		}
		s.cur.sets[i-'('] = b
	case '-', '.', '/':
		s.cur.sets[i-'-'+1] = 'B'
	case '%':
		s.cur.sets, s.cur.shift = freshCursor().sets, 0
	case '#':
		if b == '8' {
			s.align()
		}
	}
}

// align fills the screen with E, to see whether it is straight.
func (s *Screen) align() {
	s.cur.x, s.cur.y = 0, 0
	for _, l := range s.on.lines {
		l.reset(s.blank(), s.cols)
		for x := range s.cols {
			l.set(x, cell{ch: 'E', pen: s.cur.pen, w: 1})
		}
	}
}

// softReset puts back modes and looks, and leaves the text.
func (s *Screen) softReset() {
	s.modes.hide = false
	s.modes.insert = false
	s.on.top, s.on.bottom = 0, s.rows-1
	s.cur.pen, s.cur.sets, s.cur.shift, s.cur.origin = pen{}, freshCursor().sets, 0, false
	s.on.saved = freshCursor()
	s.modes.keypad = false
	s.modes.private = newModes().private
}
