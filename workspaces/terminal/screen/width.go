package screen

import (
	"strconv"
	"strings"
	"sync"
)

const (
	maxClusters = 8192 // different ones per screen
	maxJoined   = 16   // runes in one character; what follows begins another
)

// class says how a rune takes part in a character.
type class uint8

const (
	narrow   class = iota
	wide           // two columns
	extends        // joins what comes before it
	pict           // a picture of one column
	widePict       // a picture of two
	flag           // half of a flag
)

// classes gives the class of every rune, two per byte. The page reads the same table, so that both sides
// count the same columns.
var classes = sync.OnceValue(func() []byte {
	table := make([]byte, (0x110000)/2)
	at := int64(0)
	for part := range strings.SplitSeq(unicodeTable, ";") {
		f := strings.Split(part, ",")
		skip, _ := strconv.ParseInt(f[0], 36, 32)
		size, _ := strconv.ParseInt(f[1], 36, 32)
		for end := at + skip + size; at < end; at++ {
			if skip > 0 {
				at, skip = at+skip, 0
			}
			table[at/2] |= (f[2][0] - '0') << (4 * (at % 2))
		}
	}
	return table
})

func classOf(r rune) class {
	if r < 0x300 && r != 0xa9 && r != 0xae {
		return narrow
	}
	return class(classes()[r/2] >> (4 * (r % 2)) & 0xf)
}

// runeWidth is how many columns a rune takes by itself.
func runeWidth(c class) int {
	if c == wide || c == widePict {
		return 2
	}
	return 1
}

// joint is how a character ends, which says what may join it.
type joint struct {
	kind  jointKind
	count int // runes so far
}

type jointKind uint8

const (
	jointNone   jointKind = iota // nothing was printed, or something came between
	jointOther                   // marks may join
	jointPict                    // also a joiner that another picture follows
	jointJoiner                  // a picture and a joiner
	jointFlag                    // half a flag
)

// next says whether a rune joins a character that ends like this, how wide the character is then at least,
// and how it ends then.
func (j joint) next(r rune, c class) (joins bool, width int, after joint) {
	after = joint{kind: jointOther, count: 1}
	switch c {
	case pict, widePict:
		after.kind = jointPict
	case flag:
		after.kind = jointFlag
	case narrow, wide, extends:
	}
	width = runeWidth(c)
	if j.kind == jointNone || j.count >= maxJoined {
		return false, width, after
	}
	switch {
	case c == extends:
		after = joint{j.kind, j.count + 1}
		if j.kind == jointFlag || j.kind == jointJoiner {
			after.kind = jointOther
		}
		if j.kind == jointPict && r == 0x200d {
			after.kind = jointJoiner
		}
		if j.kind == jointPict && r == 0xfe0f {
			width = 2
		}
	case j.kind == jointJoiner && (c == pict || c == widePict):
		after = joint{jointPict, j.count + 1}
	case j.kind == jointFlag && c == flag:
		after, width = joint{jointOther, j.count + 1}, 2
	default:
		return false, width, after
	}
	return true, width, after
}

// clusters are the characters that consist of several runes, by number. Cells name them by -1-number.
type clusters struct {
	texts []string
	ids   map[string]int32
}

// text gives what a cell shows.
func (c *clusters) text(ch int32) string {
	switch i := int(-1 - ch); {
	case ch > 0:
		return string(ch)
	case ch < 0 && i < len(c.texts):
		return c.texts[i]
	default:
		return " "
	}
}

// add gives the number of a character with a rune more; when there are too many it stays as it is.
func (c *clusters) add(before, r rune) int32 {
	both := c.text(before) + string(r)
	if id, known := c.ids[both]; known {
		return id
	}
	if len(c.texts) >= maxClusters {
		return before
	}
	if c.ids == nil {
		c.ids = map[string]int32{}
	}
	c.texts = append(c.texts, both)
	id := int32(-len(c.texts))
	c.ids[both] = id
	return id
}
