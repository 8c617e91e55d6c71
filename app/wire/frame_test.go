package wire

import (
	"encoding/json"
	"testing"
)

// What is read without the JSON decoder is read as it would.
func TestACallsFrameIsReadAsJSONIs(t *testing.T) {
	for _, text := range []string{
		`{"id":1,"call":"projects.list"}`,
		`{"id":18446744073709551615,"call":"projects.add","args":{"path":"a\"}b","name":"x"}}`,
		`{"id":2,"call":"a","args":null}`,
		`{"id":3,"call":"a.b","args":[1,{"c":"}"}]}`,
	} {
		var want inbound
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		got, ok := callFrame([]byte(text))
		if string(want.Args) == "null" {
			want.Args = json.RawMessage("null")
		}
		if !ok || got.ID != want.ID || got.Call != want.Call || string(got.Args) != string(want.Args) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for _, text := range []string{
		``, `{}`, `{"id":1}`, `{"id":-1,"call":"a"}`, `{"id":1,"call":"a\u0062"}`, `{"id":1,"call":"a"`, `{"call":"a","id":1}`,
		`{"id":1,"call":"a","cancel":2}`, `{"id": 1,"call":"a"}`, `{"id":1,"call":"a","args":{}`[:27], `{"join":["x"]}`,
	} {
		if in, ok := callFrame([]byte(text)); ok {
			t.Errorf("%s: %+v", text, in)
		}
	}
}

func TestArgumentsWithMoreBehindThemAreRefused(t *testing.T) {
	c := startCore(t)
	h := c.raw(t)
	h.hello()
	h.say(`{"id":1,"call":"projects.add","args":{"path":"/x"},"cancel":1}`)
	if f := h.hear(); f.ID != 1 || f.Error == nil || f.Error.Code != "bad_request" {
		t.Errorf("%+v", f)
	}
}
