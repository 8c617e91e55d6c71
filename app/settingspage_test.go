package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const settingsHead = `# Settings

<!-- The table is written by "make generate" from app/settingspecs.go; a test says when it is stale. -->

` + "`Ctrl+,`" + ` opens the settings; the field at the top searches all of them. What you change is kept at once by the
core in ` + "`settings.jsonc`" + ` of the data root, usually ` + "`~/.carrel/settings.jsonc`" + `, which you can edit too: comments
stay, windows follow.

- **Where a value comes from** stands below it: the default, a line of the file, or a variable of the environment in
  which the core was started, which counts more. Some have more that counts more, such as a workspace's own mode; the
  line says that too. **Reset** takes a value out of the file.
- **A value that can't be meant** is ignored; the settings name its line and what it should be. Values that this version
  does not know stay in the file.
- **A file that can't be read** is named with the line and the reason. It is kept as
  ` + "`settings.jsonc.corrupt-TIME`" + `, never overwritten, and Carrel goes on with the defaults: mend it and move it back.

Providers and their keys are in ` + "`providers.jsonc`" + ` ([providers](providers.md)), what was allowed for a project in the
data root, never in the repository ([permissions](permissions.md)).

`

// settingsPage is docs/settings.md.
func settingsPage() string {
	var b strings.Builder
	b.WriteString(settingsHead)
	b.WriteString("| setting | values | default | what it does |\n| --- | --- | --- | --- |\n")
	for _, s := range settingSpecs() {
		more, usual := "", s.note
		if usual == "" {
			text, _ := json.Marshal(s.usual)
			usual = "`" + string(text) + "`"
		}
		if s.env != "" {
			more = fmt.Sprintf(" `%s` counts more.", s.env)
		}
		if s.said != "" {
			more += " So do " + s.said + "."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s: %s%s |\n", s.key, valuesOf(s), usual, s.title, s.help, more)
	}
	return b.String()
}

func valuesOf(s settingSpec) string {
	var values []string
	for _, o := range s.options {
		if o.Value == "" {
			continue
		}
		values = append(values, "`"+o.Value+"`")
	}
	switch s.kind {
	case SettingChoice:
		return strings.Join(values, ", ")
	case SettingSwitch:
		return "`true`, `false`"
	case SettingNumber:
		return fmt.Sprintf("%v to %v", s.least, s.most)
	case SettingList:
		return "texts"
	case SettingModel:
		return "`provider:id`"
	case SettingPanel:
		return "an object"
	case SettingText:
	}
	return "a text"
}

// With UPDATE=1 in the environment it writes the page.
func TestTheSettingsPageIsUpToDate(t *testing.T) {
	name := filepath.Join("..", "docs", "settings.md")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, []byte(settingsPage()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil || string(text) != settingsPage() {
		t.Fatalf("docs/settings.md is stale (%v): run make generate", err)
	}
}
