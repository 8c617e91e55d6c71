package screen

// modes are the switches that programs set.
type modes struct {
	private map[int]bool // those of DEC that a view has to know; 7 is on at first
	insert  bool
	newline bool
	keypad  bool
	hide    bool // the cursor
	cursor  int  // its shape, 0 to 6
	mouse   int  // the mode that reports it: 0, 9, 1000, 1002, 1003
	coding  int  // of those reports: 0, 1005, 1006, 1015, 1016
	entered int  // the mode that the alternate screen was entered by
}

func newModes() modes { return modes{private: map[int]bool{7: true}} }

// wraps reports whether text goes on in the next line.
func (m *modes) wraps() bool { return m.private[7] }

// kept are the private modes that a snapshot sets again, beside those with a field of their own.
var kept = map[int]bool{1: true, 5: true, 7: true, 12: true, 45: true, 66: true, 1004: true, 2004: true, 2031: true, 9001: true}

func (s *Screen) setMode(n int, on bool) {
	switch n {
	case 4:
		s.modes.insert = on
	case 20:
		s.modes.newline = on
	}
}

func (s *Screen) setPrivate(n int, on bool) {
	m := &s.modes
	switch n {
	case 6:
		s.cur.origin = on
		s.place(0, 0)
	case 25:
		m.hide = !on
	case 66:
		m.keypad = on
	case 9, 1000, 1002, 1003:
		m.mouse = 0
		if on {
			m.mouse = n
		}
	case 1006, 1016:
		m.coding = 0
		if on {
			m.coding = n
		}
	case 47, 1047, 1049:
		s.setAlternate(n, on)
	case 1048:
		if on {
			s.on.saved = s.cur
		} else {
			s.restoreCursor()
		}
	default:
		if kept[n] {
			m.private[n] = on
		}
	}
}

// setAlternate shows the alternate or the normal screen.
func (s *Screen) setAlternate(n int, on bool) {
	if on {
		if n == 1049 {
			s.on.saved = s.cur
		}
		if s.on != &s.alt {
			fill := s.blank()
			s.main.cur = s.cur
			for _, l := range s.alt.lines {
				l.reset(fill, s.cols)
			}
			s.alt.top, s.alt.bottom = 0, s.rows-1
			s.on, s.modes.entered = &s.alt, n
		}
		return
	}
	if s.on == &s.alt {
		s.on = &s.main
		for _, l := range s.alt.lines {
			l.reset(blank(pen{}), s.cols)
		}
	}
	if n == 1049 {
		s.restoreCursor()
	}
}
