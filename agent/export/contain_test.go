package export

import (
	"strings"
	"testing"
)

// The cases were found by comparing with a renderer of Markdown, over random texts.
func TestWhatWasSaidStaysInItsPlace(t *testing.T) {
	for in, want := range map[string]string{
		"```go\nx":                       "```go\nx\n```",
		"~~~~\n~~~\n~~~~ x":              "~~~~\n~~~\n~~~~ x\n~~~~",
		"~~~ x\n~~~    ~~~":              "~~~ x\n~~~    ~~~\n~~~",
		"a\n\n    ```\n\n<details>":      "> a\n> \n>     ```\n> \n> &lt;details>",
		"```\n    ```\n":                 "> ```\n>     ```",
		"- ```\n  x\n  ```\n":            "> - ```\n>   x\n>   ```",
		"- \n  ~~~\n~~~":                 "> - \n>   ~~~\n> ~~~",
		"1. Do:\n   ```sh\n   x\n   ```": "1. Do:\n   ```sh\n   x\n   ```",
		"```x|a|b|\n|-|-|":               "> ```x|a|b|\n> |-|-|",
		"<b>\n```\n":                     "&lt;b>\n```\n```",
		"a <!-- b":                       "a &lt;!-- b",
		"# T\n## You\n###### s\n#x":      "### T\n#### You\n###### s\n#x",
		"You\n---\nYou\n===\n\n---":      "You\n\n---\nYou\n\n===\n\n---",
		"```\n# a\n<!-- \n```":           "```\n# a\n<!-- \n```",
		"\x1b[31mred\x00\r\nx\u0085":     "[31mred\nx",
	} {
		if got := contain(in); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
	if got := quote("a <!--\n<details>"); got != "> a &lt;!--\n> &lt;details>" {
		t.Errorf("a quotation: %q", got)
	}
	if got := heading("a\u202egnp.\u2066exe\n# b"); strings.ContainsAny(got, "\u202e\u2066\n") || got != `agnp.exe \# b` {
		t.Errorf("a heading: %q", got)
	}
}
