package screen

import (
	"maps"
	"slices"
	"strconv"
)

// appendLine adds the text that shows a line on an empty one, beginning and ending with plain looks. next is
// the line below when that may continue it, else nil.
func (s *Screen) appendLine(b []byte, l *line, next *line) []byte {
	end, full := l.used, next != nil && next.continues()
	if full {
		end = s.cols
	} else if l.fill.empty() {
		for end > 0 && l.cells[end-1].empty() {
			end--
		}
	} else {
		end = s.cols
	}
	now, gap := pen{}, 0
	for x := 0; x < end; x++ {
		c := &l.cells[x]
		switch {
		case c.w == 0:
			continue
		case c.empty() && !full && !(x == 0 && l.wrapped): // a move would stay in the line above
			gap++
			continue
		case full && x == end-1 && c.ch == 0 && next.cells[0].w == 2 && next.cells[0].pen == c.pen: // it did not fit here
			continue
		}
		if gap > 0 {
			b = appendGap(b, gap)
			gap = 0
		}
		if c.pen != now {
			b = s.appendPen(b, now, c.pen)
			now = c.pen
		}
		switch {
		case c.ch > 0 && c.ch < 0x80:
			b = append(b, byte(c.ch))
		default:
			b = append(b, s.clusters.text(c.ch)...)
		}
	}
	if now != (pen{}) {
		b = s.appendPen(b, now, pen{})
	}
	return b
}

// appendPen goes from one pen to another.
func (s *Screen) appendPen(b []byte, from, to pen) []byte {
	if from.link != to.link {
		b = append(b, "\x1b]8;"...)
		if to.link == 0 {
			b = append(b, ';')
		} else {
			b = append(b, s.links[to.link-1]...)
		}
		b = append(b, "\x1b\\"...)
	}
	from.link, to.link = 0, 0
	switch {
	case from == to:
	case to == pen{}:
		b = append(b, "\x1b[m"...)
	default:
		b = appendLook(b, to)
	}
	return b
}

// appendGap passes over cells that nothing was written to.
func appendGap(b []byte, n int) []byte {
	b = append(b, "\x1b["...)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, 'C')
}

// Snapshot returns what brings a terminal that was just reset, of the same size, to this screen. maxBytes
// bounds the scrollback in it: the oldest lines are left out.
func (s *Screen) Snapshot(maxBytes int) []byte {
	b := make([]byte, 0, 16<<10)
	b = s.appendBack(b, maxBytes)
	b = s.appendMain(b)
	if s.Alternate() {
		b = s.appendAlternate(b)
	}
	b = s.appendModes(b)
	b = s.appendCursor(b)
	b = append(b, s.p.partial...)
	return append(b, s.p.rune[:s.p.runes]...)
}

func (s *Screen) appendBack(b []byte, maxBytes int) []byte {
	from, size := s.back.count, 0
	for from > 0 {
		size += len(s.back.at(from-1).text) + 2
		if size > maxBytes {
			break
		}
		from--
	}
	for i := from; i < s.back.count; i++ {
		p := s.back.at(i)
		if i > from && !p.wrapped {
			b = append(b, "\r\n"...)
		}
		b = append(b, p.text...)
	}
	if from < s.back.count && !s.main.lines[0].continues() {
		b = append(b, "\r\n"...)
	}
	return b
}

func (s *Screen) appendMain(b []byte) []byte {
	for y, l := range s.main.lines {
		if y > 0 && !l.continues() {
			b = append(b, "\r\n"...)
		}
		var next *line
		if y+1 < s.rows {
			next = s.main.lines[y+1]
		}
		b = s.appendLine(b, l, next)
	}
	return s.appendRegion(b, &s.main)
}

// appendRegion sets what belongs to a buffer: the cursor that was saved, and the region.
func (s *Screen) appendRegion(b []byte, buf *buffer) []byte {
	saved := buf.saved
	if saved != freshCursor() {
		b = appendMove(b, min(saved.x, s.cols-1), saved.y)
		b = appendSets(b, saved)
		b = s.appendPen(b, pen{}, saved.pen)
		b = append(b, "\x1b7"...)
		b = s.appendPen(b, saved.pen, pen{})
		if saved.sets != freshCursor().sets || saved.shift != 0 {
			b = appendSets(b, freshCursor())
		}
	}
	if buf.top != 0 || buf.bottom != s.rows-1 {
		b = appendPair(b, buf.top+1, buf.bottom+1, 'r')
	}
	return b
}

func (s *Screen) appendAlternate(b []byte) []byte {
	n := s.modes.entered
	cur := s.main.cur
	if n == 1049 {
		cur = s.main.saved
	}
	b = appendMove(b, min(cur.x, s.cols-1), cur.y)
	if n == 1049 {
		b = s.appendPen(b, pen{}, cur.pen)
		b = appendSets(b, cur)
	}
	b = append(b, "\x1b[?"...)
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, 'h')
	if n == 1049 {
		b = s.appendPen(b, cur.pen, pen{})
		b = append(b, "\x1b[2J"...) // it was filled with the pen's background
	}
	if n == 1049 && (cur.sets != freshCursor().sets || cur.shift != 0) {
		b = appendSets(b, freshCursor())
	}
	for y, l := range s.alt.lines {
		b = appendMove(b, 0, y)
		b = s.appendLine(b, l, nil)
	}
	return s.appendRegion(b, &s.alt)
}

func (s *Screen) appendModes(b []byte) []byte {
	m := &s.modes
	for _, n := range slices.Sorted(maps.Keys(m.private)) {
		if on := m.private[n]; on != (n == 7) {
			b = appendMode(b, n, on)
		}
	}
	if m.mouse != 0 {
		b = appendMode(b, m.mouse, true)
	}
	if m.coding != 0 {
		b = appendMode(b, m.coding, true)
	}
	if m.keypad {
		b = append(b, "\x1b="...)
	}
	if m.newline {
		b = append(b, "\x1b[20h"...)
	}
	if m.cursor != 0 {
		b = append(b, "\x1b["...)
		b = append(b, byte('0'+m.cursor))
		b = append(b, " q"...)
	}
	b = s.appendTabs(b)
	for _, i := range slices.Sorted(maps.Keys(s.palette)) {
		b = append(b, "\x1b]"...)
		if i < 256 {
			b = append(b, "4;"...)
			b = strconv.AppendInt(b, int64(i), 10)
		} else {
			b = strconv.AppendInt(b, int64(i-246), 10)
		}
		b = append(append(append(b, ';'), s.palette[i]...), "\x1b\\"...)
	}
	return b
}

func (s *Screen) appendTabs(b []byte) []byte {
	usual := true
	for x, tab := range s.tabs {
		usual = usual && tab == (x%8 == 0)
	}
	if usual {
		return b
	}
	b = append(b, "\x1b[3g"...)
	for x, tab := range s.tabs {
		if tab {
			b = append(appendMove(b, x, 0), "\x1bH"...)
		}
	}
	return b
}

// appendCursor puts the cursor where it is, with all that changes what is written next.
func (s *Screen) appendCursor(b []byte) []byte {
	cur := s.cur
	y := cur.y
	if cur.origin {
		b = append(b, "\x1b[?6h"...)
		y -= s.on.top
	}
	x, before := s.before()
	// Writing the last character once more says that the line is full, or what the next rune may join.
	again := before != nil && s.joint.kind != jointNone && before.pen == cur.pen && cur.sets[cur.shift] == 'B' && !s.modes.insert
	if cur.x >= s.cols && !again && before != nil {
		b = appendMove(b, x, y)
		b = s.appendPen(b, pen{}, before.pen)
		b = append(b, s.clusters.text(before.ch)...)
		b = s.appendPen(b, before.pen, pen{})
	} else if !again {
		b = appendMove(b, cur.x, y)
	}
	b = appendSets(b, cur)
	if s.modes.insert {
		b = append(b, "\x1b[4h"...)
	}
	if s.modes.hide {
		b = append(b, "\x1b[?25l"...)
	}
	if again {
		b = appendMove(b, x, y)
	}
	b = append(b, "\x1b[m"...)
	b = s.appendPen(b, pen{}, cur.pen)
	if again {
		b = append(b, s.clusters.text(before.ch)...)
	}
	return b
}

// before is the character before the cursor, nil when there is none.
func (s *Screen) before() (int, *cell) {
	x := min(s.cur.x, s.cols) - 1
	l := s.line()
	if x > 0 && l.cells[x].w == 0 {
		x--
	}
	if x < 0 {
		return 0, nil
	}
	return x, &l.cells[x]
}

func appendSets(b []byte, c cursor) []byte {
	for i, set := range c.sets {
		if set != 'B' || c.shift != 0 || c == freshCursor() {
			b = append(b, 0x1b, byte('('+i), set)
		}
	}
	switch c.shift {
	case 1:
		b = append(b, 0x0e)
	case 2:
		b = append(b, "\x1bn"...)
	case 3:
		b = append(b, "\x1bo"...)
	default:
		b = append(b, 0x0f)
	}
	return b
}

func appendMove(b []byte, x, y int) []byte { return appendPair(b, y+1, x+1, 'H') }

func appendPair(b []byte, n, m int, final byte) []byte {
	b = append(b, "\x1b["...)
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, ';')
	b = strconv.AppendInt(b, int64(m), 10)
	return append(b, final)
}

func appendMode(b []byte, n int, on bool) []byte {
	b = append(b, "\x1b[?"...)
	b = strconv.AppendInt(b, int64(n), 10)
	if on {
		return append(b, 'h')
	}
	return append(b, 'l')
}
