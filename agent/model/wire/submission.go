package wire

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"carrel/agent/model"
)

// maxSetAside is how many tools one request sets aside before it gives up.
const maxSetAside = 8

// submission is one request and what had to be left out of it.
type submission struct {
	c      *Client
	cache  *Cache
	r      *model.Request
	origin string
	out    without
	tools  []model.Tool // those that are sent
	notes  []string
	begun  bool     // the last attempt brought a part of the response
	proof  []string // what signs it: no error shows it
}

func newSubmission(c *Client, r *model.Request) *submission {
	s := &submission{c: c, cache: c.Cache, r: r, origin: c.Origin(r.Model), tools: r.Tools}
	if s.cache == nil {
		s.cache = NewCache()
	}
	if s.cache.anyRefused() {
		s.tools = slices.DeleteFunc(slices.Clone(r.Tools), func(t model.Tool) bool {
			return s.cache.isRefused(toolKey(s.origin, t))
		})
		s.out.image = func(data []byte) bool { return s.cache.isRefused(imageKey(s.origin, data)) }
	}
	return s
}

// payload writes the body. The history of the conversation is taken and given back around it.
func (s *submission) payload() *Payload {
	r := *s.r
	r.Tools = s.tools
	if s.out.reasoning {
		r.Thinking.Budget = 0 // it wants the reasoning that is left out
	}
	if s.out.reasoning || s.out.images || r.CacheKey == "" {
		return assemble(s.c.Format.Body(&r), new(history).extend(s.c.Format, r.Messages, s.origin, s.out))
	}
	h := s.cache.take(s.key())
	defer s.cache.put(s.key(), h)
	p := assemble(s.c.Format.Body(&r), h.extend(s.c.Format, r.Messages, s.origin, s.out))
	p.cache, p.key = s.cache, s.key()
	return p
}

func (s *submission) key() string { return s.origin + "\x00" + s.r.CacheKey }

// retreat leaves out what the provider refused. It reports whether there was such a thing, so that
// the request is worth sending again.
func (s *submission) retreat(e *model.Error) bool {
	if e.Kind != model.ErrBadRequest || s.begun || e.Status/100 != 4 {
		return false
	}
	switch {
	case s.setAside(e.Message):
	case !s.out.images && imageText.MatchString(e.Message) && s.dropImages():
	case !s.out.reasoning && reasoningText.MatchString(e.Message) && hasReasoning(s.c.Format, s.r, s.origin):
		s.out.reasoning = true
	default:
		return false
	}
	return true
}

// toolIndex and toolName find the tool that an error is about.
var (
	toolIndex = regexp.MustCompile(`(?:function_declarations|functionDeclarations|tools)[\[.](\d+)`)
	toolName  = regexp.MustCompile("(?i)(?:invalid|bad|unsupported).{0,40}(?:function|tool) ['\"`]([a-zA-Z0-9_-]{1,64})['\"`]")
)

// setAside leaves out the tool that the error names, now and later.
func (s *submission) setAside(text string) bool {
	i := -1
	if m := toolIndex.FindAllStringSubmatch(text, -1); m != nil {
		if n, err := strconv.Atoi(m[len(m)-1][1]); err == nil && n < len(s.tools) {
			i = n
		}
	}
	if m := toolName.FindStringSubmatch(text); m != nil && i < 0 {
		i = slices.IndexFunc(s.tools, func(t model.Tool) bool { return t.Name == m[1] })
	}
	if i < 0 || s.tools[i].Name == s.r.Force || len(s.notes) >= maxSetAside {
		return false
	}
	t := s.tools[i]
	s.cache.refuse(toolKey(s.origin, t))
	s.tools = slices.Delete(slices.Clone(s.tools), i, i+1)
	s.notes = append(s.notes, fmt.Sprintf("The provider refused the tool %q (%s), so it was set aside.", t.Name, clip(text, 200)))
	return true
}

// dropImages leaves out the images of the request, now and later: which of them was refused is
// seldom said.
func (s *submission) dropImages() bool {
	n := 0
	images(s.r.Messages, func(data []byte) {
		s.cache.refuse(imageKey(s.origin, data))
		n++
	})
	if n == 0 {
		return false
	}
	s.cache.forget(s.key())
	s.out.images = true
	s.notes = append(s.notes, "The provider refused an image, so the images of this conversation were replaced by notes.")
	return true
}

// headers are those of the request, without what signs it.
func (s *submission) headers(h http.Header) {
	h.Set("User-Agent", "carrel")
	Overlay(h, s.c.Header)
	if f, ok := s.c.Format.(Headerer); ok {
		Overlay(h, f.Headers(s.r))
	}
	if s.c.Headers != nil {
		Overlay(h, s.c.Headers(s.r))
	}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream")
	if f, ok := s.c.Format.(Framer); ok {
		h.Set("Accept", f.Accept())
	}
}
