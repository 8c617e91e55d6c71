package screen

import (
	"fmt"
	"strconv"
)

// Questions are answered here, and by no view: then each has one answer, whatever hosts are attached. What
// a program could use to make the terminal type a text of its choice, such as its title, has none.

func (s *Screen) reply(text string) {
	if len(s.notes.Reply)+len(text) <= maxReply {
		s.notes.Reply = append(s.notes.Reply, text...)
	}
}

func (s *Screen) reportDevice(second bool) {
	if second {
		s.reply("\x1b[>0;276;0c")
		return
	}
	s.reply("\x1b[?1;2c")
}

func (s *Screen) reportStatus(n int, private bool) {
	x, y := min(s.cur.x, s.cols-1)+1, s.cur.y+1
	switch {
	case n == 5 && !private:
		s.reply("\x1b[0n")
	case n == 6 && private:
		s.reply(fmt.Sprintf("\x1b[?%d;%dR", y, x))
	case n == 6:
		s.reply(fmt.Sprintf("\x1b[%d;%dR", y, x))
	}
}

// reportMode answers DECRQM: 1 on, 2 off, 0 not known.
func (s *Screen) reportMode(n int, private bool) {
	m := &s.modes
	known, on := true, false
	switch {
	case !private:
		on = n == 4 && m.insert || n == 20 && m.newline
		known = n == 4 || n == 20
	case n == 6:
		on = s.cur.origin
	case n == 25:
		on = !m.hide
	case n == 9, n == 1000, n == 1002, n == 1003:
		on = m.mouse == n
	case n == 1006, n == 1016:
		on = m.coding == n
	case n == 47, n == 1047, n == 1049:
		on = s.Alternate()
	case n == 2026: // views know it and end it by themselves
	default:
		known, on = kept[n], m.private[n]
	}
	state, mark := 0, ""
	if known {
		state = 2
	}
	if on {
		state = 1
	}
	if private {
		mark = "?"
	}
	s.reply("\x1b[" + mark + strconv.Itoa(n) + ";" + strconv.Itoa(state) + "$y")
}

// dcs answers DECRQSS, the one device control string that is known.
func (s *Screen) dcs() {
	p := &s.p
	if p.inters != 1 || p.inter[0] != '$' || p.inter[1] != 'q' {
		return
	}
	switch string(p.text) {
	case "m":
		look := appendLook(nil, s.cur.pen)
		s.reply("\x1bP1$r" + string(look[2:]) + "\x1b\\")
	case "r":
		s.reply(fmt.Sprintf("\x1bP1$r%d;%dr\x1b\\", s.on.top+1, s.on.bottom+1))
	case " q":
		s.reply(fmt.Sprintf("\x1bP1$r%d q\x1b\\", s.modes.cursor))
	case `"p`:
		s.reply("\x1bP1$r61;1\"p\x1b\\")
	default:
		s.reply("\x1bP0$r\x1b\\")
	}
}
