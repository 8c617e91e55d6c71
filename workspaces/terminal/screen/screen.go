package screen

// Bounds of a screen.
const (
	MaxCols = 1000
	MaxRows = 500
	MinCols = 2
	MinRows = 1
)

// cursor is where and how the next character is written. x may be the number of columns: the line is full,
// and the next character goes to the next line.
type cursor struct {
	x, y   int
	pen    pen
	shift  int     // which of sets is in use
	sets   [4]byte // 'B' is ASCII, '0' line drawing
	origin bool
}

// buffer is the normal or the alternate screen.
type buffer struct {
	lines       []*line
	cur         cursor // while it is not shown: where the cursor was
	saved       cursor
	top, bottom int // of the region that scrolls
}

// Screen is what a terminal shows. It is not safe for use by several goroutines.
type Screen struct {
	cols, rows int
	main, alt  buffer
	on         *buffer // the one that is shown
	cur        cursor
	back       scrollback
	modes      modes
	tabs       []bool
	palette    map[int]string // colours that a program set, by number; 256 foreground, 257 background, 258 cursor
	clusters   clusters
	links      []string // parameters;address of what links lead to, by number from 1
	last       rune     // printed last, for repeating; 0: none
	joint      joint    // how the character before the cursor ends
	p          parser
	notes      Notes
	colours    [3]string // that queries are answered with: foreground, background, cursor
}

// New returns an empty screen that keeps at most maxLines lines and maxBytes bytes of scrollback.
func New(cols, rows, maxLines, maxBytes int) *Screen {
	cols, rows = clamp(cols, rows)
	s := &Screen{cols: cols, rows: rows, back: scrollback{maxLines: maxLines, maxBytes: maxBytes}}
	s.reset()
	return s
}

func clamp(cols, rows int) (int, int) {
	return min(max(cols, MinCols), MaxCols), min(max(rows, MinRows), MaxRows)
}

// Size returns columns and rows.
func (s *Screen) Size() (cols, rows int) { return s.cols, s.rows }

// Alternate reports whether the alternate screen is shown, as by full-screen programs.
func (s *Screen) Alternate() bool { return s.on == &s.alt }

// Bracketed reports whether the program wants pasted text between marks.
func (s *Screen) Bracketed() bool { return s.modes.private[2004] }

// reset is what a terminal starts with.
func (s *Screen) reset() {
	s.back.clear()
	s.main, s.alt = s.newBuffer(), s.newBuffer()
	s.on = &s.main
	s.cur = freshCursor()
	s.modes = newModes()
	s.tabs = nil
	s.resetTabs()
	s.palette = nil
	s.clusters, s.links = clusters{}, nil
	s.last, s.joint = 0, joint{}
}

func freshCursor() cursor { return cursor{sets: [4]byte{'B', 'B', 'B', 'B'}} }

func (s *Screen) newBuffer() buffer {
	b := buffer{bottom: s.rows - 1, cur: freshCursor(), saved: freshCursor()}
	for range s.rows {
		b.lines = append(b.lines, newLine(s.cols, blank(pen{})))
	}
	return b
}

func (s *Screen) resetTabs() {
	for x := len(s.tabs); x < s.cols; x++ {
		s.tabs = append(s.tabs, x%8 == 0)
	}
	s.tabs = s.tabs[:s.cols]
}

func (s *Screen) line() *line { return s.on.lines[s.cur.y] }

func (s *Screen) blank() cell { return blank(s.cur.pen) }

// scroll moves the region up by one line.
func (s *Screen) scroll(wrapped bool) {
	b := s.on
	first := b.lines[b.top]
	if b.top == 0 && b == &s.main {
		var next *line
		switch {
		case b.bottom > 0:
			next = b.lines[1]
		case wrapped:
			next = &line{wrapped: true, cells: []cell{{}}, fill: cell{w: 2}} // what will be written
		}
		s.back.push(s, first, next)
	}
	copy(b.lines[b.top:b.bottom], b.lines[b.top+1:b.bottom+1])
	first.reset(s.blank(), s.cols)
	first.wrapped = wrapped
	b.lines[b.bottom] = first
}

// lineFeed goes down one line.
func (s *Screen) lineFeed() {
	if s.modes.newline {
		s.cur.x = 0
	}
	s.cur.y++
	switch {
	case s.cur.y == s.on.bottom+1:
		s.cur.y--
		s.scroll(false)
	case s.cur.y >= s.rows:
		s.cur.y = s.rows - 1
	default:
		s.line().wrapped = false
	}
	if s.cur.x >= s.cols {
		s.cur.x--
	}
}

// shiftUp drops n lines at row at, inside the region, and adds blank ones at its bottom.
func (s *Screen) shiftUp(at, n int, fill cell) {
	b := s.on
	for range min(n, b.bottom-at+1) {
		gone := b.lines[at]
		copy(b.lines[at:b.bottom], b.lines[at+1:b.bottom+1])
		gone.reset(fill, s.cols)
		b.lines[b.bottom] = gone
	}
}

// shiftDown adds n blank lines at row at, inside the region; those at its bottom are dropped.
func (s *Screen) shiftDown(at, n int, fill cell) {
	b := s.on
	for range min(n, b.bottom-at+1) {
		gone := b.lines[b.bottom]
		copy(b.lines[at+1:b.bottom+1], b.lines[at:b.bottom])
		gone.reset(fill, s.cols)
		b.lines[at] = gone
	}
}

// restrict brings the cursor into the screen, and with origin mode into the region.
func (s *Screen) restrict() {
	s.cur.x = min(max(s.cur.x, 0), s.cols-1)
	if s.cur.origin {
		s.cur.y = min(max(s.cur.y, s.on.top), s.on.bottom)
	} else {
		s.cur.y = min(max(s.cur.y, 0), s.rows-1)
	}
}

// place moves the cursor, counted from the region with origin mode.
func (s *Screen) place(x, y int) {
	if s.cur.origin {
		y += s.on.top
	}
	s.cur.x, s.cur.y = x, y
	s.restrict()
}

// Used reports whether anything was written yet.
func (s *Screen) Used() bool {
	return s.cur.x > 0 || s.cur.y > 0 || s.back.count > 0 || s.Alternate()
}
