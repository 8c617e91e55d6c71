package wire

import (
	"context"
	"net/http"
	"time"

	"carrel/agent/model"
)

// DefaultIdle is how long a stream may be silent.
const DefaultIdle = 120 * time.Second

// maxError is how much of an error's body is read, and maxShown how much of its text is shown.
const (
	maxError = 1 << 20
	maxShown = 2 << 10
)

// maxPauses is how often a response that the provider paused is asked to go on.
const maxPauses = 8

// Client calls one provider. It implements model.Streamer.
type Client struct {
	Format   Format
	URL      string      // of the endpoint
	Provider string      // part of the origin of reasoning
	Header   http.Header // sent with each request, the key among them
	Secrets  []string    // replaced in every error
	HTTP     *http.Client
	// Cache makes the steps of a conversation cheap and keeps refused tools and images out. It may be
	// nil, and then each request begins anew.
	Cache *Cache
	// Idle is how long the stream may be silent, before the headers too; 0 is DefaultIdle. Comments
	// and pings show that the server lives, but are no progress: with nothing but these the stream
	// ends after five times Idle.
	Idle time.Duration

	// Endpoint gives the address for a request where it depends on it; nil is URL.
	Endpoint func(r *model.Request) string
	// Headers gives headers that depend on the request, over those of Header; it may be nil.
	Headers func(r *model.Request) http.Header
	// Sign adds what proves who asks, over all other headers. Its error is shown as one of kind
	// auth unless it is a *model.Error. It may be nil.
	Sign func(ctx context.Context, req *http.Request, body *Payload) error
}

// Stream gets one response; see model.Streamer. A response that the provider paused is asked to go
// on and becomes one message. When the provider refuses reasoning, images or a tool that are in the
// request, it is sent again without them; Message.Notes tells of tools and images.
func (c *Client) Stream(ctx context.Context, r *model.Request, emit func(model.Event)) (*model.Message, error) {
	origin := c.Origin(r.Model)
	a := NewAccumulator(origin, emit)
	err := c.persist(ctx, r, a)
	for n := 0; err == nil && a.msg.Stop == model.StopPause && n < maxPauses; n++ {
		next := *r
		next.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], *a.msg)
		a.resume()
		err = c.persist(ctx, &next, a)
	}
	if err != nil {
		return a.msg, err
	}
	return a.msg, nil
}

// Origin marks what a model of this provider made.
func (c *Client) Origin(id string) string { return c.Format.Name() + "/" + c.Provider + "/" + id }

// Body is the body of the request as Stream sends it first.
func (c *Client) Body(r *model.Request) []byte { return newSubmission(c, r).payload().Bytes() }

// persist sends a request, again with less in it when the provider refuses a part of it.
func (c *Client) persist(ctx context.Context, r *model.Request, a *Accumulator) *model.Error {
	s := newSubmission(c, r)
	for {
		err := c.send(ctx, s, a)
		if err == nil || !s.retreat(err) {
			a.note(s.notes...)
			return err
		}
		a.msg.Stop = ""
	}
}

func (c *Client) send(ctx context.Context, s *submission, a *Accumulator) *model.Error {
	watched, w := newWatch(ctx, c.idle())
	defer w.stop()
	before := len(a.msg.Parts)
	err := c.exchange(watched, w, s, a)
	if err == nil {
		return nil
	}
	e := c.explain(ctx, context.Cause(watched), err, s.proof)
	e.MidStream = len(a.msg.Parts) > 0
	s.begun = len(a.msg.Parts) > before
	if e.Kind == model.ErrCancelled {
		a.fail(model.StopCancelled)
	} else {
		a.fail(model.StopError)
	}
	return e
}

func (c *Client) idle() time.Duration {
	if c.Idle > 0 {
		return c.Idle
	}
	return DefaultIdle
}
