package model

// Runnable gives the calls of a response that may run: those that are complete, of a response that
// the model itself ended. A response that was cut off (by the output limit, a filter, an error, an
// interrupt) has none, since a command that is half there must not run. Arguments can still be
// malformed; the tool answers that.
func Runnable(m *Message) []Part {
	if m == nil || m.Role != Assistant || !runs(m.Stop) {
		return nil
	}
	var calls []Part
	for _, p := range m.Parts {
		if p.Kind == ToolCall && !p.Open {
			calls = append(calls, p)
		}
	}
	return calls
}

func runs(s Stop) bool { return s == StopEnd || s == StopTools }
