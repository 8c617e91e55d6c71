package wire

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"carrel/agent/model"
)

func TestADigestGoesOnFromWhatIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var d digest
	var chunks [][]byte
	for i := range 300 {
		switch at := len(chunks); {
		case r.IntN(20) == 0 && at > 0: // a message of the past was edited
			chunks = chunks[:r.IntN(at)]
		case r.IntN(10) == 0 && at > 0: // the marks moved
			chunks = slices.Clone(chunks)
			chunks[at-1] = append(bytes.Clone(chunks[at-1]), 'x')
		}
		for range r.IntN(4) {
			chunks = append(chunks[:len(chunks):len(chunks)], bytes.Repeat([]byte{byte(i)}, r.IntN(digestStep)))
		}
		if got, want := d.sum(chunks), sha256.Sum256(bytes.Join(chunks, nil)); got != want {
			t.Fatalf("step %d: %x, want %x", i, got, want)
		}
	}
}

func TestOnlyTheEndOfALongBodyIsHashedAgain(t *testing.T) {
	c := &Client{Format: plain{}, Cache: NewCache()}
	r := &model.Request{CacheKey: "k"}
	body := func() *Payload {
		for range 40 {
			r.Messages = append(r.Messages, say(model.User, strings.Repeat("x", 10<<10)), say(model.Assistant, "a"))
		}
		return newSubmission(c, r).payload()
	}
	for range 3 {
		p := body()
		if got, want := p.SHA256(), sha256.Sum256(p.Bytes()); got != want {
			t.Fatalf("%x, want %x", got, want)
		}
	}
	p := body()
	h := c.Cache.take(p.key)
	if _, at := h.digest.resume(p.chunks); at < 200 {
		t.Errorf("it goes on at chunk %d of %d", at, len(p.chunks))
	}
	if got, want := p.SHA256(), sha256.Sum256(p.Bytes()); got != want || len(c.Cache.histories) != 0 {
		t.Errorf("while another request has the history: %x, want %x", got, want)
	}
	c.Cache.put(p.key, h)
	q := newSubmission(&Client{Format: plain{}}, &model.Request{Messages: r.Messages}).payload()
	if q.SHA256() != p.SHA256() {
		t.Error("a body without a history has another hash")
	}
}

func TestWhatSignsARequestIsInNoError(t *testing.T) {
	before := map[string][]string{"A": {"stays as it is"}}
	after := map[string][]string{"A": {"stays as it is"}, "X-Amz-Date": {"20260101T000000Z"}, "X-Amz-Security-Token": {"session-token"},
		"Authorization": {"AWS4-HMAC-SHA256 Credential=AKID/x, Signature=0123456789abcdef"}}
	text := scrub("stays as it is 20260101T000000Z session-token 0123456789abcdef", added(before, after))
	if want := "stays as it is 20260101T000000Z [key] [key]"; text != want {
		t.Error(text)
	}
	if text := scrub("t0ken-of-a-login", added(nil, map[string][]string{"Authorization": {"Bearer t0ken-of-a-login"}})); text != "[key]" {
		t.Error(text)
	}
}

func BenchmarkDigest(b *testing.B) {
	chunks := [][]byte{}
	for i := range 800 {
		chunks = append(chunks, bytes.Repeat([]byte(fmt.Sprint(i%10)), 1<<10))
	}
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			new(digest).sum(chunks)
		}
	})
	b.Run("known", func(b *testing.B) {
		var d digest
		d.sum(chunks)
		for b.Loop() {
			d.sum(append(chunks[:len(chunks)-2:len(chunks)-2], []byte("a"), []byte("b")))
		}
	})
}
