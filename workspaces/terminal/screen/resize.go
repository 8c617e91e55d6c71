package screen

// Resize changes the size. Lines of the normal screen are broken anew, those of the alternate one are cut:
// its program draws it again.
func (s *Screen) Resize(cols, rows int) {
	cols, rows = clamp(cols, rows)
	if cols == s.cols && rows == s.rows {
		return
	}
	s.resizeAlternate(cols, rows)
	s.resizeMain(cols, rows)
	s.tabs = s.tabs[:min(len(s.tabs), cols)]
	s.resetTabs()
	s.cur.x, s.cur.y = min(s.cur.x, cols-1), min(s.cur.y, rows-1)
}

func (s *Screen) resizeAlternate(cols, rows int) {
	old := s.alt.lines
	drop := 0
	if s.Alternate() {
		drop = max(0, s.cur.y-rows+1)
	}
	s.alt.lines = nil
	for y := range rows {
		l := newLine(cols, blank(pen{}))
		if y+drop < len(old) {
			n := copy(l.cells, old[y+drop].cells)
			l.used = n
			if l.cells[n-1].w == 2 {
				l.cells[n-1] = blank(pen{})
			}
		}
		s.alt.lines = append(s.alt.lines, l)
	}
	s.alt.top, s.alt.bottom = 0, rows-1
	s.alt.saved.x, s.alt.saved.y = min(s.alt.saved.x, cols-1), min(s.alt.saved.y, rows-1)
	if s.Alternate() {
		s.cur.y -= drop
	}
}

// resizeMain writes the normal screen into a new one, so that its lines are broken where they now must be.
func (s *Screen) resizeMain(cols, rows int) {
	cur := s.cur
	if s.Alternate() {
		cur = s.main.cur
	}
	lines := s.usedLines(cur, rows)
	next := &Screen{cols: cols, rows: rows, back: s.back, clusters: s.clusters, links: s.links, modes: newModes(), cur: freshCursor()}
	next.main = next.newBuffer()
	next.on = &next.main
	next.resetTabs()
	x, y := 0, 0
	scrolled := 0
	for i, l := range lines {
		if i > 0 && !l.wrapped {
			next.cur.x = 0
			scrolled += next.down(false)
		}
		end := l.end(i+1 < len(lines) && lines[i+1].wrapped)
		for at := 0; at < max(end, 1) || l.cursor && at <= l.x; at++ {
			if l.cursor && at == l.x {
				x, y = next.cur.x, next.cur.y+scrolled
			}
			if at < end && l.cells[at].w > 0 {
				scrolled += next.copyCell(l.cells[at])
			} else if at >= end && l.cursor && at < l.x && next.cur.x < cols {
				next.cur.x++
			}
		}
	}
	s.back, s.clusters = next.back, next.clusters
	s.main.lines, s.main.top, s.main.bottom = next.main.lines, 0, rows-1
	s.cols, s.rows = cols, rows
	cur.x, cur.y = min(x, cols-1), min(max(y-scrolled, 0), rows-1)
	if s.Alternate() {
		s.main.cur = cur
	} else {
		s.cur = cur
	}
	s.main.saved.x, s.main.saved.y = min(s.main.saved.x, cols-1), min(s.main.saved.y, rows-1)
}

// oldLine is a line that is to be written anew.
type oldLine struct {
	cells   []cell
	wrapped bool
	cursor  bool // it has the cursor, at x
	x       int
}

// end is where the text of a line ends; all of it when the next one continues it.
func (l *oldLine) end(continued bool) int {
	end := len(l.cells)
	for end > 0 && l.cells[end-1].empty() && (!continued || l.cells[end-1].ch == 0 && end == len(l.cells)) {
		end--
	}
	return end
}

// usedLines are the lines down to the last that says something, or that has the cursor; with those of the
// scrollback that come back because there is more room, or because the first line continues them.
func (s *Screen) usedLines(cur cursor, rows int) []oldLine {
	last := len(s.main.lines) - 1
	for last > cur.y && s.main.lines[last].used == 0 && s.main.lines[last].fill.empty() {
		last--
	}
	want := 0
	if last == len(s.main.lines)-1 {
		want = max(0, rows-len(s.main.lines))
	}
	var lines []oldLine
	first := s.main.lines[0].wrapped
	for s.back.count > 0 && (want > 0 || first) && len(lines) < MaxRows {
		p := s.back.pop()
		lines = append([]oldLine{s.readPast(p)}, lines...)
		first = p.wrapped
		want--
	}
	for y, l := range s.main.lines[:last+1] {
		lines = append(lines, oldLine{cells: l.cells, wrapped: l.wrapped, cursor: y == cur.y, x: min(cur.x, s.cols)})
	}
	return lines
}

// readPast reads a line of the scrollback.
func (s *Screen) readPast(p past) oldLine {
	one := &Screen{cols: MaxCols, rows: 1, clusters: s.clusters, links: s.links, modes: newModes(), cur: freshCursor()}
	one.main = one.newBuffer()
	one.on = &one.main
	_, _ = one.Write(p.text)
	s.clusters, s.links = one.clusters, one.links
	l := one.main.lines[0]
	end := max(l.used, one.cur.x)
	return oldLine{cells: l.cells[:min(end, len(l.cells))], wrapped: p.wrapped}
}

// down goes to the next line and returns how many lines scrolled away.
func (s *Screen) down(wrapped bool) int {
	if s.cur.y < s.rows-1 {
		s.cur.y++
		s.line().wrapped = wrapped
		return 0
	}
	s.scroll(wrapped)
	return 1
}

// copyCell writes a cell as it is.
func (s *Screen) copyCell(c cell) (scrolled int) {
	if s.cur.x+int(c.w) > s.cols {
		s.cur.x = 0
		scrolled = s.down(true)
	}
	l := s.line()
	l.set(s.cur.x, c)
	s.cur.x++
	if c.w == 2 {
		l.set(s.cur.x, cell{pen: c.pen})
		s.cur.x++
	}
	return scrolled
}
