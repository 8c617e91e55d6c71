package search

import (
	"strings"
	"unicode/utf8"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// What is read of one record, in bytes of text. More of a tool's output would be found seldom and
// make the index grow with what commands print.
const (
	maxSaid   = 256 << 10
	maxInput  = 16 << 10
	maxOutput = 32 << 10
)

// Role says whose words were found.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool" // the input of a call, or its output
)

// roles are how roles are kept in the index.
var roles = []Role{User, Assistant, Tool}

// said is a text of a record.
type said struct {
	role Role
	part int // index of the part in the message, -1 for a tool's output
	text string
}

// textsOf gives what is searchable of a record.
func textsOf(r *transcript.Record) []said {
	switch r.Kind {
	case transcript.User, transcript.Assistant:
		if r.Message == nil {
			return nil
		}
		role := Assistant
		if r.Kind == transcript.User {
			role = User
		}
		var out []said
		for i := range r.Message.Parts {
			switch p := &r.Message.Parts[i]; p.Kind {
			case model.Text:
				out = append(out, said{role, i, head(p.Text, maxSaid)})
			case model.ToolCall:
				out = append(out, said{Tool, i, unquote(head(p.Input, maxInput))})
			default: // reasoning, files, what providers keep to themselves
			}
		}
		return out
	case transcript.ToolEnd:
		if r.Result == nil {
			return nil
		}
		var out []said
		for i := range r.Result.Parts {
			if p := &r.Result.Parts[i]; p.Kind == model.Text {
				out = append(out, said{Tool, -1, ends(p.Text, maxOutput)})
			}
		}
		return out
	default:
		return nil
	}
}

// unquote turns the escapes of JSON for the ends of lines into spaces, so that no word begins with
// the letter of one.
func unquote(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, " ", `\"`, `"`).Replace(s)
}

// head gives the first n bytes of s, at a character's boundary.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// ends gives the beginning and the end of s, n bytes together: errors are mostly at the end.
func ends(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := len(s) - n/4
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return head(s, n-n/4) + "\n" + s[at:]
}
