package modeltest

import (
	"bytes"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

var searched = fakewire.Reply{
	Reasoning: "I should look.", Text: "It is so.",
	Search: &fakewire.Search{Query: "how is <it>?", Found: []model.Source{
		{URL: "https://a.example/?q=1&r=2", Title: "A & B"}, {URL: "https://b.example", Title: "B"}, {URL: "https://b.example", Title: "again"}}},
}

// native is about the provider's own web search.
func (s Subject) native(t *testing.T) {
	if !s.Search {
		t.Skip("the format has none")
	}
	t.Run("is switched on when asked for alone", func(t *testing.T) {
		req := ask(user("hi"))
		req.Native = []string{model.WebSearch, "of another provider"}
		if r := s.sent(t, req); !r.Search || len(r.Messages) != 1 {
			t.Errorf("%s", r.Raw)
		}
		if r := s.sent(t, ask(user("hi"))); r.Search {
			t.Errorf("without being asked: %s", r.Raw)
		}
	})
	t.Run("texts cite their sources", func(t *testing.T) {
		m, err := s.one(t, searched, ask(user("hi")))
		if err != nil {
			t.Fatal(err)
		}
		text := m.Parts[len(m.Parts)-1]
		if text.Text != searched.Text || len(text.Sources) != 2 || text.Sources[0] != searched.Search.Found[0] {
			t.Errorf("%+v", text)
		}
	})
	if s.NativeParts {
		t.Run("goes back to its model alone, unchanged", s.searchReplayed)
		t.Run("half a search stays out", s.halfSearch)
	}
	if s.Pauses {
		t.Run("a paused response goes on", s.paused)
	}
}

func (s Subject) searchReplayed(t *testing.T) {
	m, err := s.one(t, searched, ask(user("hi")))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range m.Parts {
		if p.Kind == model.Native {
			n++
			if p.Name != model.WebSearch || p.Open || p.Opaque == nil || n == 1 && p.Text != searched.Search.Query {
				t.Errorf("%+v", p)
			}
		}
	}
	if n == 0 || len(model.Runnable(m)) != 0 {
		t.Fatalf("%+v", m)
	}
	req := ask(user("hi"), *m, user("and?"))
	first := s.sent(t, req)
	again := ask(user("hi"), *clone(t, m), user("and?"))
	if second := s.sent(t, again); !bytes.Equal(first.Raw, second.Raw) {
		t.Errorf("after a restart:\n%s\n%s", first.Raw, second.Raw)
	}
	for _, p := range m.Parts {
		if p.Kind == model.Native && !bytes.Contains(first.Raw, p.Opaque) {
			t.Errorf("changed or lost: %s in %s", p.Opaque, first.Raw)
		}
	}
	req.Model = "model-b"
	if r := s.sent(t, req); strings.Contains(string(r.Raw), "web_search_") || strings.Contains(string(r.Raw), "a.example") || !strings.Contains(string(r.Raw), "It is so.") {
		t.Errorf("leaked, or the text is lost: %s", r.Raw)
	}
}

func (s Subject) halfSearch(t *testing.T) {
	for n := 1; ; n++ {
		server := fakewire.New(t, fakewire.Turns(fakewire.Steps(searched), fakewire.Steps(fakewire.Reply{Text: "ok"})))
		client := s.New(t, server.URL, 0)
		ctx, emit, snapshot := stopAt(t, n)
		m, err := client.Stream(ctx, ask(user("hi")), emit)
		if snapshot() == nil {
			if err != nil {
				t.Error(err)
			}
			return
		}
		for _, left := range []*model.Message{snapshot(), m} {
			if _, err := client.Stream(t.Context(), ask(user("hi"), *left, user("go on")), nil); err != nil {
				t.Fatalf("after event %d: %v\n%s", n, err, server.Last().Raw)
			}
		}
	}
}

// paused holds that the rest of a response that the provider paused belongs to the same message.
func (s Subject) paused(t *testing.T) {
	begin := fakewire.Reply{Reasoning: "hm", Search: &fakewire.Search{Query: "q", Alone: true}, Stop: model.StopPause,
		Usage: model.Usage{Input: 100, Output: 10, Searches: 1}}
	rest := fakewire.Reply{Text: "Found it.", Calls: []fakewire.Call{{Name: "list"}}, Usage: model.Usage{Input: 200, Output: 20, CacheRead: 90}}
	server := fakewire.New(t, func(r fakewire.Request) fakewire.Reply {
		if r.Continues() {
			return rest
		}
		return begin
	})
	index := 0
	m, err := s.New(t, server.URL, 0).Stream(t.Context(), ask(user("hi")), func(e model.Event) {
		if e.Type == model.PartStart {
			if e.Index != index {
				t.Errorf("part %d starts, want %d", e.Index, index)
			}
			index++
		}
	})
	if err != nil || len(server.Requests()) != 2 {
		t.Fatalf("%v, %d requests, %s", err, len(server.Requests()), server.Last().Raw)
	}
	if m.Stop != model.StopTools || len(m.Parts) != 4 || m.Parts[2].Text != "Found it." || len(model.Runnable(m)) != 1 {
		t.Errorf("%+v", m)
	}
	same(t, "usage", m.Usage, model.Usage{Input: 300, Output: 30, CacheRead: 90, Searches: 1})
	begin.Usage = model.Usage{}
	endless := fakewire.New(t, fakewire.Steps(begin))
	if m, err := s.New(t, endless.URL, 0).Stream(t.Context(), ask(user("hi")), nil); err != nil || m.Stop != model.StopPause || len(endless.Requests()) > 12 {
		t.Errorf("stop %q, %v after %d requests", m.Stop, err, len(endless.Requests()))
	}
}
