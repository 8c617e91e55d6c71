package tool_test

import (
	"encoding/json"
	"slices"
	"testing"

	"carrel/agent/tool"
)

// TestToolsAreSmall keeps what every request carries for the built-in tools under 2,000 tokens, at
// about four bytes each.
func TestToolsAreSmall(t *testing.T) {
	size := 0
	for _, tl := range tool.Builtin() {
		s := tl.Spec()
		size += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	if size > 6000 {
		t.Errorf("the tools take %d bytes", size)
	}
	t.Logf("%d bytes", size)
}

func TestToolsHaveTheFieldsOfTheSpec(t *testing.T) {
	fields := map[string][]string{
		"bash":                     {"display_name", "model_intent", "script", "timeout_secs"},
		"file_read":                {"limit", "offset", "path"},
		"file_edit_replace_string": {"new_string", "old_string", "path", "replace_count"},
		"file_edit_replace_lines":  {"end_line", "expected_lines", "new_lines", "path", "start_line"},
		"file_edit_insert":         {"content", "insert_after", "insert_before", "path"},
		"todo_write":               {"todos"},
	}
	for name, want := range fields {
		found, ok := tool.Find(tool.Builtin(), name)
		if !ok {
			t.Fatalf("no tool %s", name)
		}
		var schema struct {
			Properties map[string]any
			Required   []string
		}
		if err := json.Unmarshal(found.Spec().Schema, &schema); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var have []string
		for field := range schema.Properties {
			have = append(have, field)
		}
		slices.Sort(have)
		if !slices.Equal(have, want) || len(schema.Required) == 0 || found.Spec().ReadOnly != (name == "file_read") {
			t.Errorf("%s has %v, required %v", name, have, schema.Required)
		}
	}
	if _, ok := tool.Find(tool.Builtin(), "none"); ok {
		t.Error("found a tool that does not exist")
	}
}

func TestToolsSurviveBadInput(t *testing.T) {
	d := newDesk(t)
	for _, tl := range tool.Builtin() {
		for _, raw := range []string{"", "null", "[]", "{", `"x"`, "{}", `{"path":null}`, `{"path":[],"script":{},"todos":{}}`, `{"path":"\u0000","content":"x"}`} {
			if r := tl.Run(t.Context(), tool.Call{Input: json.RawMessage(raw), Env: d.env}); !r.IsError {
				t.Errorf("%s took %q", tl.Spec().Name, raw)
			}
		}
	}
}
