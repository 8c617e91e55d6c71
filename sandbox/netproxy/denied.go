package netproxy

// DeniedBy is the entry of Denied that keeps an entry of Allowed from having any effect; "" when none
// does, or when the entry can't be read.
func (r Rules) DeniedBy(entry string) string {
	e, err := readPattern(entry)
	if err != nil {
		return ""
	}
	for _, text := range r.Denied {
		p, err := readPattern(text)
		switch {
		case err != nil:
			return text // nothing passes while it can't be read
		case p.port != 0 && p.port != e.port:
		case p.covers(e.host), p.below && e.below && p.host == e.host:
			return text
		}
	}
	return ""
}
