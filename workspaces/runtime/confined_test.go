package runtime

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCommandsAreNamedByWhatPeopleRecognise(t *testing.T) {
	long := strings.Repeat("é", 80)
	for want, argv := range map[string][]string{
		`curl "https://example.org"`:     {"bash", "-c", "\n  curl \"https://example.org\"\n"},
		"cd sub && make ...":             {"bash", "-c", "cd sub && make\r\nmake test"},
		"npm test":                       {"npm", "test"},
		"bash -c":                        {"bash", "-c"},
		"":                               {"sh", "-c", " \n "},
		strings.Repeat("é", 50) + "...":  {"sh", "-c", long},
		strings.Repeat("x", 100) + "...": {"sh", "-c", strings.Repeat("x", 101) + "\ny"},
	} {
		if got := spoken(argv); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q", argv, got)
		}
	}
}
