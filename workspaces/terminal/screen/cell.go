package screen

// Flags of a cell's looks.
const (
	bold uint16 = 1 << iota
	dim
	italic
	blink
	inverse
	hidden
	strike
	overline
	underline1 // three bits: the style, 0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed
	underline2
	underline4

	underlineShift = 8
	underlineMask  = underline1 | underline2 | underline4
)

// Kinds of a colour, in its upper byte; 0 is the default colour.
const (
	indexed uint32 = 1 << 24
	direct  uint32 = 2 << 24
	basic   uint32 = 3 << 24 // one of the sixteen, which views may brighten when it is bold
	kinds   uint32 = 3 << 24
)

// pen is how what is written looks.
type pen struct {
	fg, bg, ul uint32
	flags      uint16
	link       uint16 // of the screen's links; 0: none
}

// cell is one place of the grid. A character of two columns has w 2, and the cell behind it w 0. ch 0 is a
// place that nothing was written to, or that was erased; a negative one names a cluster of several runes.
type cell struct {
	ch int32
	pen
	w uint8
}

// blank is an erased cell: it keeps the pen's background.
func blank(p pen) cell { return cell{pen: pen{bg: p.bg}, w: 1} }

func (c cell) empty() bool { return c.ch == 0 && c.pen == pen{} && c.w == 1 }

// line is one row of the grid. From used on all its cells are fill.
type line struct {
	cells   []cell
	used    int
	fill    cell
	wrapped bool // it continues the line above
}

func newLine(cols int, fill cell) *line {
	l := &line{cells: make([]cell, cols)}
	l.reset(fill, cols)
	return l
}

// reset makes every cell fill.
func (l *line) reset(fill cell, cols int) {
	if cap(l.cells) < cols {
		l.cells = make([]cell, cols)
		l.used = cols
	}
	known := l.used
	if l.fill != fill || len(l.cells) != cols {
		known = cols
	}
	l.cells = l.cells[:cols]
	part := l.cells[:min(known, cols)]
	for i := range part {
		part[i] = fill
	}
	l.used, l.fill, l.wrapped = 0, fill, false
}

func (l *line) set(x int, c cell) {
	l.cells[x] = c
	if x >= l.used {
		l.used = x + 1
	}
}

// continues reports whether the text of the line above goes on in this one.
func (l *line) continues() bool {
	if !l.wrapped {
		return false
	}
	for x := range l.used {
		if !l.cells[x].empty() {
			return true
		}
	}
	return !l.fill.empty()
}

// erase makes the cells from start to before end fill, without halves of wide characters left at its ends.
func (l *line) erase(start, end int, fill cell) {
	end = min(end, len(l.cells))
	if start >= end {
		return
	}
	if start > 0 && l.cells[start-1].w == 2 {
		l.set(start-1, fill)
	}
	if end < len(l.cells) && l.cells[end-1].w == 2 {
		l.set(end, fill)
	}
	for x := start; x < end; x++ {
		l.cells[x] = fill
	}
	if end > l.used {
		l.used = end
	}
	if end == len(l.cells) && fill == l.fill {
		l.used = min(l.used, start)
	}
}

// insert moves the cells from x on to the right by n.
func (l *line) insert(x, n int, fill cell) {
	cols := len(l.cells)
	x %= cols
	if x > 0 && l.cells[x].w == 0 {
		l.set(x-1, fill)
	}
	n = min(n, cols-x)
	copy(l.cells[x+n:], l.cells[x:cols-n])
	for i := x; i < x+n; i++ {
		l.cells[i] = fill
	}
	l.used = cols
	if l.cells[cols-1].w == 2 {
		l.cells[cols-1] = fill
	}
}

// remove moves the cells behind x to the left by n.
func (l *line) remove(x, n int, fill cell) {
	cols := len(l.cells)
	x %= cols
	n = min(n, cols-x)
	copy(l.cells[x:], l.cells[x+n:])
	for i := cols - n; i < cols; i++ {
		l.cells[i] = fill
	}
	l.used = cols
	if x > 0 && l.cells[x-1].w == 2 {
		l.cells[x-1] = fill
	}
	if l.cells[x].w == 0 {
		l.cells[x] = fill
	}
}
