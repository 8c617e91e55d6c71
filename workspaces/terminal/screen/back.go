package screen

// past is a line that left the screen, as the text that shows it again.
type past struct {
	text    []byte
	wrapped bool // it continues the one before
}

// scrollback keeps the newest lines that left the screen, in a ring.
type scrollback struct {
	lines              []past
	first, count       int
	bytes              int
	maxLines, maxBytes int
	scratch            []byte
}

// lineCost is what a line takes beside its text, in bytes.
const lineCost = 40

func (b *scrollback) clear() {
	b.lines, b.first, b.count, b.bytes = nil, 0, 0, 0
}

func (b *scrollback) at(i int) *past { return &b.lines[(b.first+i)%len(b.lines)] }

// push keeps a line, above next; the oldest go when there are too many.
func (b *scrollback) push(s *Screen, l, next *line) {
	if b.maxLines <= 0 {
		return
	}
	b.scratch = s.appendLine(b.scratch[:0], l, next)
	text := b.scratch
	for b.count > 0 && (b.count >= b.maxLines || b.bytes+len(text)+lineCost > b.maxBytes) {
		b.drop()
	}
	if len(b.lines) == b.count {
		b.grow()
	}
	p := b.at(b.count)
	b.count++
	p.text = append(p.text[:0], text...)
	p.wrapped = l.continues()
	b.bytes += len(text) + lineCost
}

// drop forgets the oldest line. Its memory is kept for the next, unless it is long.
func (b *scrollback) drop() {
	p := b.at(0)
	b.bytes -= len(p.text) + lineCost
	if cap(p.text) > 512 {
		p.text = nil
	}
	b.first = (b.first + 1) % len(b.lines)
	b.count--
}

// pop takes the newest line back.
func (b *scrollback) pop() past {
	p := b.at(b.count - 1)
	b.count--
	b.bytes -= len(p.text) + lineCost
	out := *p
	*p = past{}
	return out
}

func (b *scrollback) grow() {
	next := make([]past, min(max(2*len(b.lines), 64), b.maxLines))
	for i := range b.count {
		next[i] = *b.at(i)
	}
	b.lines, b.first = next, 0
}
