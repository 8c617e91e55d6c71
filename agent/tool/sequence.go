package tool

import "github.com/charmbracelet/x/ansi/parser"

// maxParams is how many bytes of a sequence's parameters are kept; colours have no more.
const maxParams = 64

// sequences finds the control sequences in ASCII text, with the transition table of x/ansi. The
// Parser of that module does the same and more, but importing it builds tables of character widths
// at every start of the program, which takes longer than all the rest of a start.
type sequences struct {
	print   func(rune)
	execute func(control byte)
	// csi gets a control sequence without prefix and intermediate bytes: its last byte and its first
	// parameter, 0 if it has none.
	csi func(final byte, first int)

	state  parser.State
	first  int
	params []byte // all parameters, as far as they fit
	later  bool   // the first parameter has ended
	other  bool   // it has a prefix or an intermediate byte
}

// reset leaves the sequence that it is in.
func (s *sequences) reset() {
	s.state = parser.GroundState
	s.clear()
}

func (s *sequences) clear() { s.first, s.later, s.other, s.params = 0, false, false, s.params[:0] }

// advance takes the next byte, which is below 0x80.
func (s *sequences) advance(b byte) {
	from := s.state
	to, action := parser.Table.Transition(from, b)
	s.state = to
	if from == parser.EscapeState && to != from {
		s.clear()
	}
	switch action {
	case parser.ClearAction:
		s.clear()
	case parser.PrintAction:
		s.print(rune(b))
	case parser.ExecuteAction:
		s.execute(b)
	case parser.PrefixAction, parser.CollectAction:
		s.other = true
	case parser.ParamAction:
		if len(s.params) < maxParams {
			s.params = append(s.params, b)
		}
		if b < '0' || b > '9' {
			s.later = true
		} else if !s.later {
			s.first = min(s.first*10+int(b-'0'), maxColumn)
		}
	case parser.DispatchAction:
		inCSI := from == parser.CsiEntryState || from == parser.CsiParamState || from == parser.CsiIntermediateState
		if inCSI && !s.other {
			s.csi(b, s.first)
		}
	}
}
