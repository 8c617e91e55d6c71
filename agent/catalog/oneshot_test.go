package catalog

import (
	"strings"
	"testing"

	"carrel/store"
)

func TestOneShotCommands(t *testing.T) {
	c := New(config{settings: store.Settings{Models: map[string]store.ModelConfig{
		"mine:m/1":                  {Aliases: []string{"Mine", "clear", "a b", "opus2"}},
		"anthropic:claude-sonnet-5": {Aliases: []string{"old"}},
	}}}, func(string) string { return "" })
	for in, want := range map[string]OneShot{
		"/sonnet explain this code":     {"anthropic:claude-sonnet-5-5", Default, "explain this code"},
		"/opus+high deep review":        {"anthropic:claude-opus-5-5", High, "deep review"},
		"/haiku+0 quick answer":         {"anthropic:claude-haiku-5-5", "0", "quick answer"},
		"/+2 analyze this":              {"", "2", "analyze this"},
		"/+0 quick answer":              {"", "0", "quick answer"},
		"/+max think":                   {"", Max, "think"},
		"/GPT+Med text":                 {"openai:gpt-6.1-sol", Medium, "text"},
		"/grok-4.7+off x":               {"xai:grok-4.7", Off, "x"},
		"/gpt-6-astra+9 x":              {"openai:gpt-6-astra", "9", "x"},
		"/sonnet\n\n  a\n b \n":         {"anthropic:claude-sonnet-5-5", Default, "a\n b"},
		"/mine+xhigh /usr/bin is right": {"mine:m/1", XHigh, "/usr/bin is right"},
		"/old text":                     {"anthropic:claude-sonnet-5", Default, "text"},
		"/demo text":                    {"demo:demo", Default, "text"},
	} {
		if got, ok := c.OneShot(in); !ok || got != want {
			t.Errorf("%q: %+v, %v; want %+v", in, got, ok, want)
		}
	}
}

func TestOrdinaryMessagesAreNotSwallowed(t *testing.T) {
	c := New(config{settings: store.Settings{Models: map[string]store.ModelConfig{"mine:m": {Aliases: []string{"clear", "fork", "model"}}}}},
		func(string) string { return "" })
	for _, in := range []string{
		"", "/", "//", "hello", "/usr/bin is broken", "/opus/x is a path", "/tmp", "/etc/passwd has a bug", "/opus", "/opus ", "/opus+high", "/+2", "/+ text",
		"/opus+ text", "/opus+ultra text", "/opus+10 text", "/unknown text", "/unknown+high text", "/clear --soft", "/clear text", "/compact -m opus",
		"/fork name", "/model opus", "/goal do it", " /opus text", "a /opus text", "/+2+3 text", "/opus+high+low text", "/op us text", "/ opus text",
		"/anthropic:claude-opus-5-5 text", "/öpus text", "/opus\x00 text", "/" + strings.Repeat("a", 200) + " text", "/-1 text", "/+-1 text",
	} {
		if got, ok := c.OneShot(in); ok {
			t.Errorf("%q is taken for %+v", in, got)
		}
	}
}

func FuzzOneShot(f *testing.F) {
	for _, s := range []string{"/opus+high text", "/+2 text", "/usr/bin is broken", "/opus\ttext", "/ x", "/+", "/sonnet\u2003x"} {
		f.Add(s)
	}
	c := catalog(nil, nil)
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := c.OneShot(s)
		if !ok {
			if got != (OneShot{}) {
				t.Fatalf("%q: %+v", s, got)
			}
			return
		}
		word, _, _ := strings.Cut(s, got.Text)
		switch {
		case !strings.HasPrefix(s, "/"), got.Text == "", !strings.HasSuffix(strings.TrimSpace(s), got.Text), strings.Contains(word[1:], "/"),
			got.Model == "" && got.Level == Default:
			t.Fatalf("%q: %+v", s, got)
		}
		if _, err := ParseLevel(string(got.Level)); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if i := c.Info(got.Model); got.Model != "" && got.Model != "demo:demo" && !i.Known {
			t.Fatalf("%q: %+v", s, i)
		}
	})
}
