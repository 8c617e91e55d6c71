package permission

import "strings"

// Unreadable gives the rules that stand in for an ask or deny rule that can't be read: as long as nobody
// knows what it forbids, what it could be about is asked for.
func Unreadable(text string) []Rule {
	name, _, _ := strings.Cut(text, "(")
	kinds := []string{"Bash", "Edit", "Read"}
	if k := kindName(name); k == "Bash" || k == "Edit" || k == "Read" || k == "WebFetch" {
		kinds = []string{k}
	}
	var out []Rule
	for _, k := range kinds {
		out = append(out, Rule{text: shown(strings.TrimSpace(text)) + " (which can't be read)", kind: k, all: true})
	}
	return out
}
