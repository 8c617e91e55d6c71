// Package legal judges requests to providers by the providers' public rules. It is written apart from
// the wire formats that the product speaks, so that a mistake in one is no mistake in the other, and
// imports nothing of them. The fault storm asks it about every request.
//
// It promises: what it takes, the provider's servers take too, as far as their rules are public and
// about the form of a request; what it refuses, it names with its place.
package legal

import (
	"errors"
	"fmt"
	"strings"
)

// Request is a request as it arrived.
type Request struct {
	Path   string
	Header map[string][]string // keys in their canonical form
	Body   []byte
}

// Said is what a request says, as far as a reader wants to compare it.
type Said struct {
	Format string   // the wire format, such as "anthropic"
	Model  string   // as the provider names it
	System string   // the system prompt
	Texts  []string // what the person's side says, in order, without results of tools
	Calls  int      // calls in the history
}

// maxProblems is how many violations are named.
const maxProblems = 8

// Check judges a request. The error names what its provider would refuse; nil: it is legal.
func Check(r Request) (Said, error) {
	j := &judge{header: r.Header, path: r.Path}
	body := j.parse(r.Body)
	if body == nil {
		return j.said, j.err()
	}
	j.must(strings.HasPrefix(j.head("Content-Type"), "application/json"), "header", "Content-Type is not application/json")
	switch {
	case strings.HasSuffix(r.Path, "/messages"):
		j.anthropic(body)
	case strings.HasSuffix(r.Path, "/responses"):
		j.responses(body)
	case strings.HasSuffix(r.Path, "/chat/completions"):
		j.chat(body)
	case strings.HasSuffix(r.Path, ":streamGenerateContent"):
		j.gemini(body)
	case strings.HasSuffix(r.Path, "/converse-stream"):
		j.bedrock(body)
	case strings.HasSuffix(r.Path, "/invoke-with-response-stream"):
		j.bedrockClaude(body)
	default:
		j.fail("path", "%q is no endpoint of any format", r.Path)
	}
	return j.said, j.err()
}

// judge collects what is wrong with one request.
type judge struct {
	header   map[string][]string
	path     string
	said     Said
	problems []error
	more     int // violations beyond those named
}

func (j *judge) fail(where, format string, args ...any) {
	if len(j.problems) >= maxProblems {
		j.more++
		return
	}
	j.problems = append(j.problems, fmt.Errorf("%s: "+format, append([]any{where}, args...)...))
}

// must fails with the rule unless ok.
func (j *judge) must(ok bool, where, rule string) {
	if !ok {
		j.fail(where, "%s", rule)
	}
}

func (j *judge) err() error {
	if j.more > 0 {
		return errors.Join(append(j.problems, fmt.Errorf("and %d more", j.more))...)
	}
	return errors.Join(j.problems...)
}

func (j *judge) head(name string) string {
	if v := j.header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// credentials wants one of these headers.
func (j *judge) credentials(names ...string) {
	for _, n := range names {
		if j.head(n) != "" {
			return
		}
	}
	j.fail("header", "none of %s is there", strings.Join(names, ", "))
}
