package tokens_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/tokens"
)

// prose is about n bytes of words and code, in lines.
func prose(n int) string {
	words := strings.Fields("the quick brown fox { return nil } func main() 3.1415 über für naïve 漢字 don't; //comment x[i+1] == 0x7f && camelCase snake_case")
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < n {
		for range r.IntN(14) {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(' ')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestCountsAreThoseOfTheVocabulary(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "hello world": 2, "Hello, world!": 4, "tiktoken is great!": 6, "お誕生日おめでとう": 8,
		"2 + 2 = 4": 7,
	} {
		if got := tokens.Count(text); got != want {
			t.Errorf("%q has %d, want %d", text, got, want)
		}
	}
}

func TestPiecesChangeACountHardly(t *testing.T) {
	text := prose(60 << 10) // one piece for Count
	c := tokens.New(nil, nil)
	a, b := float64(tokens.Count(text)), float64(c.Count(text))
	if b < a || b > a*1.002 {
		t.Errorf("in one piece %v, in small ones %v", a, b)
	}
}

func TestHostileTextIsCountedToo(t *testing.T) {
	c := tokens.New(nil, nil)
	for _, text := range []string{strings.Repeat("\xff", 70000), strings.Repeat("\u0301", 50000), strings.Repeat(" ", 100000),
		strings.Repeat("\n", 100000), strings.Repeat("😀", 30000), strings.Repeat("a", 70001) + "é"} {
		if n := tokens.Count(text); n < 100 || n > len(text) {
			t.Errorf("%q... has %d", text[:8], n)
		}
		if n := c.Count(text); n < 100 || n > int64(len(text)) {
			t.Errorf("%q... has %d", text[:8], n)
		}
	}
}

func TestOnlyWhatIsNewIsCounted(t *testing.T) {
	c := tokens.New(nil, nil)
	msgs := make([]model.Message, 0, 300)
	for range 200 {
		msgs = append(msgs, model.Message{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: prose(4000)}}})
	}
	first := c.Estimate("a:b", msgs)
	if first.Raw < 100_000 || first.Tokens != first.Raw {
		t.Fatalf("%+v", first)
	}
	var before, after runtime.MemStats // each count allocates; what is remembered does not
	runtime.ReadMemStats(&before)
	again := c.Estimate("a:b", msgs)
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; again != first || n > 100 {
		t.Errorf("%+v, then %+v with %d allocations", first, again, n)
	}
}

func TestATallyCountsAsTheCounterDoes(t *testing.T) {
	c := tokens.New(nil, nil)
	tally := c.Tally()
	say := func(text string) model.Message {
		return model.Message{Parts: []model.Part{{Kind: model.Text, Text: text}}}
	}
	r := &model.Request{System: "be good", Tools: []model.Tool{{Name: "read", Schema: []byte(`{"type":"object"}`)}}}
	one, two := say(prose(5000)), say(prose(300))
	for _, msgs := range [][]model.Message{{one}, {one, two}, {one, {}, two}, {two, one}, {one}, {say(prose(5000)), two}, nil} {
		r.Messages = msgs
		for _, id := range []string{"a:b", "a:b", "c:d"} {
			if got, want := tally.Request(id, r), c.Request(id, r); got != want {
				t.Errorf("%d messages for %s: %+v, want %+v", len(msgs), id, got, want)
			}
		}
	}
}

func TestEveryKindOfPartCounts(t *testing.T) {
	c := tokens.New(nil, nil)
	word := strings.Repeat("word ", 100)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 750, 100))); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]model.Part{
		"text": {Kind: model.Text, Text: word}, "reasoning": {Kind: model.Reasoning, Text: word},
		"call": {Kind: model.ToolCall, Name: "bash", Input: word}, "native": {Kind: model.Native, Text: word},
		"result": {Kind: model.ToolResult, Parts: []model.Part{{Kind: model.Text, Text: word}}},
		"file":   {Kind: model.File, Mime: "text/plain", Data: []byte(word)}, "pdf": {Kind: model.File, Mime: "application/pdf"},
		"picture": {Kind: model.File, Mime: "image/png", Data: b.Bytes()}, "kept picture": {Kind: model.File, Mime: "image/png", Blob: "x"},
	} {
		if n := c.Estimate("a:b", []model.Message{{Parts: []model.Part{p}}}).Raw; n < 100 || n > 2000 {
			t.Errorf("%s has %d", name, n)
		}
	}
	r := &model.Request{System: word, Tools: []model.Tool{{Name: "t", Description: word, Schema: []byte(`{"type":"object"}`)}}}
	if n := c.Request("a:b", r).Raw; n < 210 || n > 300 {
		t.Errorf("the request has %d", n)
	}
}

func TestPicturesCountByTheirProvidersRule(t *testing.T) {
	for _, c := range []struct {
		id   string
		w, h int
		want int64
	}{
		{"anthropic:opus", 1000, 750, 1001}, {"anthropic:opus", 9000, 9000, 1601}, {"own:x", 75, 10, 2},
		{"openai:gpt-5", 512, 512, 255}, {"openai:gpt-5", 1024, 1024, 765}, {"openrouter:openai/gpt-5", 2048, 4096, 1105},
		{"google:gemini-3", 384, 100, 258}, {"google:gemini-3", 1000, 700, 516}, {"openai:gpt-5", 0, 0, 255},
	} {
		if got := tokens.Picture(c.id, c.w, c.h); got != c.want {
			t.Errorf("%s, %d x %d: %d, want %d", c.id, c.w, c.h, got, c.want)
		}
	}
}

func TestAModelsFactorIsLearnedAndKept(t *testing.T) {
	saved := map[string]tokens.Factor{}
	saves := 0
	save := func(id string, f tokens.Factor) { saved[id], saves = f, saves+1 }
	c := tokens.New(nil, save)
	text := []model.Message{{Parts: []model.Part{{Kind: model.Text, Text: prose(20000)}}}}
	raw := c.Estimate("a:b", text).Raw
	for range 200 {
		c.Learn("a:b", raw, raw*14/10)
	}
	if got := c.Estimate("a:b", text); got.Raw != raw || got.Tokens < raw*139/100 || got.Tokens > raw*141/100 {
		t.Errorf("%+v of %d", got, raw)
	}
	if got := c.Estimate("a:other", text); got.Tokens != raw {
		t.Errorf("another model learned it: %+v", got)
	}
	if saves > 20 {
		t.Errorf("%d saves for what stays the same", saves)
	}
	if got := tokens.New(saved, nil).Estimate("a:b", text).Tokens; got < raw*139/100 {
		t.Errorf("%d after a restart", got)
	}
	// One request that went wrong, or a few, pull nothing away.
	c.Learn("a:b", raw, raw*100)
	c.Learn("a:b", raw, 1)
	c.Learn("a:b", raw, 0)
	c.Learn("a:b", 10, 1000)
	if got := c.Estimate("a:b", text).Tokens; got < raw*130/100 || got > raw*150/100 {
		t.Errorf("%d after odd requests", got)
	}
}

func TestOddFactorsAreNotBelieved(t *testing.T) {
	c := tokens.New(map[string]tokens.Factor{"a:b": {Value: 1000, Samples: 5}, "a:c": {Value: 2}}, nil)
	for _, id := range []string{"a:b", "a:c"} {
		if e := c.Estimate(id, []model.Message{{}}); e.Tokens != e.Raw {
			t.Errorf("%s: %+v", id, e)
		}
	}
}

func TestManyMayCountAtATime(t *testing.T) {
	c := tokens.New(nil, func(string, tokens.Factor) {})
	text := []model.Message{{Parts: []model.Part{{Kind: model.Text, Text: prose(9000)}}}}
	got := make([]int64, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			for n := range 50 {
				got[i] = c.Estimate(fmt.Sprint("m:", i), text).Raw
				c.Learn(fmt.Sprint("m:", n), 1000, 1100)
			}
		})
	}
	wg.Wait()
	for _, n := range got {
		if diff := cmp.Diff(got[0], n); diff != "" {
			t.Error(diff)
		}
	}
}

// BenchmarkCount has the two that must be within three times of each other.
func BenchmarkCount(b *testing.B) {
	_ = tokens.Count("x")
	for name, text := range map[string]string{"1 MB of text": prose(1 << 20), "200,000 letters": strings.Repeat("a", 200_000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				tokens.Count(text)
			}
		})
	}
}

// BenchmarkLive is a live count of a long conversation whose last answer grows.
func BenchmarkLive(b *testing.B) {
	c := tokens.New(nil, nil)
	var msgs []model.Message
	for range 200 {
		msgs = append(msgs, model.Message{Parts: []model.Part{{Kind: model.Text, Text: prose(4000)}}})
	}
	answer := prose(40_000)
	_ = c.Estimate("a:b", msgs)
	for n := range b.N {
		end := (n * 40) % len(answer)
		_ = c.Estimate("a:b", append(msgs, model.Message{Parts: []model.Part{{Kind: model.Text, Text: answer[:end]}}}))
	}
}
