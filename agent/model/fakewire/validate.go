package fakewire

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// proof is reasoning that came back: its text, and what seals it.
type proof struct{ text, seal string }

// prove seals reasoning: only this model takes it back, and only unchanged.
func prove(model, text string) string {
	sum := sha256.Sum256([]byte(model + "\x00" + text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

var (
	strictID  = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	loneSurro = regexp.MustCompile(`(?i)\\u(d[89ab][0-9a-f]{2}(\\ud[c-f][0-9a-f]{2})?|d[c-f][0-9a-f]{2})`)
)

// Validate says what the real servers would refuse in a request, nil when nothing.
func Validate(r Request) error {
	if err := strict(r.Raw); err != nil {
		return err
	}
	if len(r.Messages) == 0 {
		return errors.New("messages: at least one message is required")
	}
	seen := map[string]bool{}
	for i, m := range r.Messages {
		if err := r.message(i, m, seen); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return nil
}

func (r Request) message(i int, m Message, seen map[string]bool) error {
	for _, p := range m.proofs {
		if r.Format != "chat" && p.seal != prove(r.Model, p.text) {
			return errors.New("invalid signature in thinking block")
		}
	}
	if len(m.uses) > 0 && (i < len(r.Messages)-1 || strings.HasPrefix(m.uses[0], "result")) {
		return fmt.Errorf("a native tool's use without its result: %q", m.uses)
	}
	if m.Role == "assistant" && m.last == "reasoning" {
		return errors.New("reasoning without its required following item")
	}
	var want []string
	for _, c := range m.Calls {
		if err := r.call(c, seen); err != nil {
			return err
		}
		want = append(want, c.ID)
	}
	var got []Result
	if len(want) > 0 && i+1 < len(r.Messages) && r.Messages[i+1].Role == "tool" {
		got = r.Messages[i+1].Results
	}
	if len(want) > 0 && len(got) != len(want) {
		return fmt.Errorf("%d calls, but %d results right after them", len(want), len(got))
	}
	left := map[string]bool{}
	for _, id := range want {
		left[id] = true
	}
	for _, g := range got {
		if !left[g.ID] {
			return fmt.Errorf("result %q has no call right before it, or comes twice", g.ID)
		}
		delete(left, g.ID)
	}
	if m.Role == "tool" && (i == 0 || len(r.Messages[i-1].Calls) == 0) {
		return errors.New("results without calls before them")
	}
	return nil
}

func (r Request) call(c Call, seen map[string]bool) error {
	if seen[c.ID] || c.ID == "" {
		return fmt.Errorf("call id %q comes twice, or is empty", c.ID)
	}
	seen[c.ID] = true
	if r.Format != "chat" && !strictID.MatchString(c.ID) {
		return fmt.Errorf("call id %q is not of the allowed form", c.ID)
	}
	if !strictID.MatchString(c.Name) {
		return fmt.Errorf("tool name %q is not of the allowed form", c.Name)
	}
	var input map[string]any
	if err := json.Unmarshal([]byte(c.Input), &input); err != nil || input == nil {
		return fmt.Errorf("arguments of call %q are no object", c.ID)
	}
	return strict([]byte(c.Input))
}

// strict refuses JSON that a strict parser refuses: bytes that are not UTF-8, lone surrogates.
func strict(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("body is not valid UTF-8")
	}
	if !json.Valid(raw) {
		return errors.New("body is not valid JSON")
	}
	for _, at := range loneSurro.FindAllSubmatchIndex(raw, -1) {
		slashes := 0
		for k := at[0]; k >= 0 && raw[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 1 && (at[4] < 0) {
			return errors.New("body has a lone surrogate")
		}
	}
	return nil
}

// Check says what the real server of a path would refuse in a body, nil when nothing.
func Check(path string, raw []byte) error {
	path, _, _ = strings.Cut(path, "?")
	f := formatOf(path)
	if f == nil {
		return fmt.Errorf("no such path %q", path)
	}
	r := Request{Format: f.name(), Path: path, Raw: raw}
	if err := f.parse(&r); err != nil {
		return err
	}
	return Validate(r)
}
