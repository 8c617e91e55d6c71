package screen_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// words are what random output is made of. What the two sides are known to see differently is left out: the
// cursor that ESC 7 saves moves with the scrollback in xterm.js, and stays where it is here; and xterm.js
// restores less of the character sets with it, and moves down with origin mode where it should move aside, and
// leaves odd cells where wide characters meet the edge without wrapping.
func words(r *rand.Rand) string {
	n := func(top int) int { return r.IntN(top) }
	switch n(24) {
	case 0, 1, 2, 3, 4:
		return strings.Repeat(string(rune('a'+n(26))), 1+n(12))
	case 5, 6:
		return "\r\n"
	case 7:
		return []string{"中", "✅", "e\u0301", "👩‍👩‍👧", "❤️", "🇩🇪", "ｶ", "한", "👍🏽"}[n(9)]
	case 8:
		return fmt.Sprintf("\x1b[%d;%dH", n(12), n(30))
	case 9:
		return fmt.Sprintf("\x1b[%d%c", n(5), "ABCDEFGdae`"[n(11)])
	case 10:
		return fmt.Sprintf("\x1b[%d%c", n(4), "@PXLMST"[n(7)])
	case 11:
		return fmt.Sprintf("\x1b[%d%c", n(3), "JK"[n(2)])
	case 12, 13:
		return fmt.Sprintf("\x1b[%d;%dm", []int{0, 1, 3, 4, 7, 9, 21, 22, 24, 27, 31, 42, 95, 103, 39, 49}[n(16)], n(10))
	case 14:
		return fmt.Sprintf("\x1b[38;5;%dm\x1b[48;2;%d;2;3m", n(256), n(256))
	case 15:
		return fmt.Sprintf("\x1b[%d;%dr", n(5), n(12))
	case 16:
		return []string{"\x1bD", "\x1bM", "\x1bE", "\t", "\b", "\r", "\n", "\x1b[I", "\x1b[Z"}[n(9)]
	case 17:
		return []string{"\x1b[4h", "\x1b[4l", "\x1b[?25l", "\x1b[?25h"}[n(4)]
	case 18:
		return []string{"\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l"}[n(4)]
	case 19:
		return []string{"\x1b(0qx\x1b(B", "\x0e", "\x0f", "\x1b[!p"}[n(4)]
	case 20:
		return []string{"\x1b[?2004h", "\x1b[?1000h", "\x1b[?1h", "\x1b=", "\x1b[?1006h", "\x1bH", "\x1b[g"}[n(7)]
	case 21:
		return []string{"\xff", "\xc3", "\u009b3m", "\x1b]0;x\x07", "\x1bP1$qx\x1b\\", "\x1b[<1;2m", "\x1b_x\x1b\\", "\ufeff"}[n(8)]
	default:
		return strings.Repeat(" ", n(8))
	}
}

func TestRandomOutputIsRestored(t *testing.T) {
	o := startOracle(t)
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for range 5 + r.IntN(60) {
			b.WriteString(words(r))
		}
		text := []byte(b.String())
		o.restores(24, 8, text, r.IntN(len(text)+1))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
