package screen

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxTitle   = 200     // runes
	maxDir     = 4 << 10 // bytes
	maxLink    = 2 << 10 // bytes of a link
	maxLinks   = 500     // different ones per screen
	maxPalette = 300     // colours that a program may set
	maxMarks   = 64      // that wait to be taken
	maxReply   = 4 << 10 // bytes of answers that wait to be taken
)

// MarkKind says what happened at a prompt, after OSC 133.
type MarkKind byte

// The kinds of marks.
const (
	PromptStart MarkKind = 'A'
	InputStart  MarkKind = 'B'
	RunStart    MarkKind = 'C'
	RunEnd      MarkKind = 'D'
)

// Mark is one step of a shell that tells where its commands begin and end.
type Mark struct {
	Kind MarkKind
	Code int // of a RunEnd: the command's exit code, -1 when it is not told
}

// Notes are what a program said beside its text since they were taken last.
type Notes struct {
	// Reply answers the program's questions; it goes to the program's input.
	Reply []byte
	// Title is the newest title, cleaned and at most 200 characters, when Titled.
	Title  string
	Titled bool
	// Dir is the shell's directory as OSC 7 says it, "" when nothing was said; Host is the machine it named.
	Dir, Host string
	Bells     int
	Marks     []Mark
	// Reset says that the program reset the terminal.
	Reset bool
}

// Notes gives what was noted since it was called last.
func (s *Screen) Notes() Notes {
	n := s.notes
	s.notes = Notes{}
	return n
}

// endString ends an OSC or DCS.
func (s *Screen) endString(bool) {
	p := &s.p
	dcs := p.state == dcsText
	p.state = ground
	if dcs {
		s.dcs()
		return
	}
	number, text, _ := strings.Cut(string(p.text), ";")
	n, err := strconv.Atoi(number)
	if err != nil {
		return
	}
	s.osc(n, text)
}

func (s *Screen) osc(n int, text string) {
	switch n {
	case 0, 2:
		s.notes.Title, s.notes.Titled = CleanTitle(text), true
	case 4:
		s.setPalette(text)
	case 7:
		s.setDir(text)
	case 8:
		s.setLink(text)
	case 10, 11, 12:
		for i, spec := range strings.Split(text, ";") {
			if n+i <= 12 {
				s.setColour(246+n+i, n+i, spec)
			}
		}
	case 104:
		if text == "" {
			for i := range s.palette {
				if i < 256 {
					delete(s.palette, i)
				}
			}
		}
		for index := range strings.SplitSeq(text, ";") {
			if i, err := strconv.Atoi(index); err == nil {
				delete(s.palette, i)
			}
		}
	case 110, 111, 112:
		delete(s.palette, 146+n)
	case 133:
		s.mark(text)
	}
}

// CleanTitle makes a title that a program chose fit to be shown: no controls, no marks that change the
// direction of text, at most 200 characters.
func CleanTitle(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n == maxTitle {
			break
		}
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) {
			continue
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimSpace(b.String())
}

func (s *Screen) setDir(text string) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" || !strings.HasPrefix(u.Path, "/") || len(u.Path) > maxDir || strings.ContainsFunc(u.Path, unicode.IsControl) {
		return
	}
	s.notes.Dir, s.notes.Host = u.Path, u.Host
}

func (s *Screen) mark(text string) {
	kind, rest, _ := strings.Cut(text, ";")
	if len(kind) != 1 || len(s.notes.Marks) >= maxMarks {
		return
	}
	m := Mark{Kind: MarkKind(kind[0]), Code: -1}
	switch m.Kind {
	case PromptStart, InputStart, RunStart:
	case RunEnd:
		code, _, _ := strings.Cut(rest, ";")
		if n, err := strconv.Atoi(code); err == nil {
			m.Code = n & 0xff
		}
	default:
		return
	}
	s.notes.Marks = append(s.notes.Marks, m)
}

// setLink begins or ends a link. Where it may lead is for the view to judge.
func (s *Screen) setLink(text string) {
	s.cur.pen.link = 0
	_, address, ok := strings.Cut(text, ";")
	if !ok || address == "" || len(text) > maxLink {
		return
	}
	if i := slices.Index(s.links, text); i >= 0 {
		s.cur.pen.link = uint16(i + 1)
	} else if len(s.links) < maxLinks {
		s.links = append(s.links, text)
		s.cur.pen.link = uint16(len(s.links))
	}
}

// setPalette takes pairs of a colour's number and its value.
func (s *Screen) setPalette(text string) {
	parts := strings.Split(text, ";")
	for i := 0; i+1 < len(parts); i += 2 {
		if n, err := strconv.Atoi(parts[i]); err == nil && n >= 0 && n < 256 && parts[i+1] != "?" {
			s.setColour(n, 4, parts[i+1])
		}
	}
}

// setColour sets a colour, or answers what it is.
func (s *Screen) setColour(index, osc int, spec string) {
	if spec == "?" {
		if value := s.colours[(osc-10)%3]; value != "" {
			s.reply("\x1b]" + strconv.Itoa(osc) + ";" + value + "\x1b\\")
		}
		return
	}
	if !isColour(spec) || len(s.palette) >= maxPalette {
		return
	}
	if s.palette == nil {
		s.palette = map[int]string{}
	}
	s.palette[index] = spec
}

// isColour reports whether a text is a colour as X writes it, so that a snapshot never repeats anything else.
func isColour(spec string) bool {
	hex, ok := strings.CutPrefix(spec, "#")
	if !ok {
		if hex, ok = strings.CutPrefix(spec, "rgb:"); !ok || strings.Count(hex, "/") != 2 {
			return false
		}
	}
	return len(hex) > 0 && len(hex) <= 14 && strings.Trim(hex, "0123456789abcdefABCDEF/") == ""
}

// SetColours says how questions for the colours of text, background and cursor are answered: each is
// rgb:hh/hh/hh, or "" for no answer.
func (s *Screen) SetColours(fg, bg, cursor string) {
	for i, c := range []string{fg, bg, cursor} {
		if s.colours[i] = ""; isColour(c) {
			s.colours[i] = c
		}
	}
}
