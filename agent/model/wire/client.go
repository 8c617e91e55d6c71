package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
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

// Client calls one endpoint of one provider. It implements model.Streamer.
type Client struct {
	Format   Format
	URL      string      // of the endpoint
	Provider string      // part of the origin of reasoning
	Header   http.Header // sent with each request, the key among them
	Secrets  []string    // replaced in every error
	HTTP     *http.Client
	// Idle is how long the stream may be silent, before the headers too; 0 is DefaultIdle. Comments
	// and pings show that the server lives, but are no progress: with nothing but these the stream
	// ends after five times Idle.
	Idle time.Duration
}

// Stream gets one response; see model.Streamer. When the provider refuses reasoning that is sent
// back to it, the request is sent once more without any.
func (c *Client) Stream(ctx context.Context, r *model.Request, emit func(model.Event)) (*model.Message, error) {
	origin := c.Origin(r.Model)
	ready := Prepare(c.Format, r, origin, false)
	m, err := c.send(ctx, ready, origin, emit)
	if err != nil && err.Kind == model.ErrBadRequest && !err.MidStream &&
		hasReasoning(ready) && reasoningText.MatchString(err.Message) {
		m, err = c.send(ctx, Prepare(c.Format, r, origin, true), origin, emit)
	}
	if err != nil {
		return m, err
	}
	return m, nil
}

// Origin marks what a model of this provider made.
func (c *Client) Origin(id string) string { return c.Format.Name() + "/" + c.Provider + "/" + id }

func (c *Client) send(ctx context.Context, r *model.Request, origin string, emit func(model.Event)) (*model.Message, *model.Error) {
	a := NewAccumulator(origin, emit)
	watched, w := newWatch(ctx, c.idle())
	defer w.stop()
	err := c.exchange(watched, w, r, a)
	if err == nil {
		return a.Message(), nil
	}
	e := c.explain(ctx, context.Cause(watched), err)
	e.MidStream = len(a.Message().Parts) > 0
	if e.Kind == model.ErrCancelled {
		a.fail(model.StopCancelled)
	} else {
		a.fail(model.StopError)
	}
	return a.Message(), e
}

func (c *Client) exchange(ctx context.Context, w *watch, r *model.Request, a *Accumulator) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(Encode(c.Format.Body(r))))
	if err != nil {
		return &model.Error{Kind: model.ErrBadRequest, Message: "the provider's address is not a URL", Cause: err}
	}
	req.Header.Set("User-Agent", "carrel")
	Overlay(req.Header, c.Header)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	client := c.HTTP
	if client == nil {
		client = NewHTTP()
		defer client.CloseIdleConnections()
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	w.progress()
	if resp.StatusCode/100 != 2 {
		return refusal(resp)
	}
	body := bufio.NewReaderSize(resp.Body, 32<<10)
	if err := notStream(resp, body); err != nil {
		return err
	}
	return c.read(ctx, w, body, a)
}

// read takes the events until one ends the response.
func (c *Client) read(ctx context.Context, w *watch, body *bufio.Reader, a *Accumulator) error {
	d := c.Format.Decoder()
	err := events(body, func(data []byte) error {
		if isPing(data) {
			w.alive()
			return nil
		}
		w.progress()
		if err := d.Decode(data, a); err != nil {
			return err
		}
		if a.size > MaxMessage {
			return &model.Error{Kind: model.ErrBadRequest, Message: "the response is larger than 32 MiB"}
		}
		if a.ended {
			w.closing(untilUsage) // only a count of tokens can follow
		}
		return nil
	}, w.alive)
	switch {
	case errors.Is(err, ErrDone):
		w.closing(untilEOF)
		_, _ = io.CopyN(io.Discard, body, 4<<10) // reach the end, so that the connection is reused
		return nil
	case a.ended && !isModelError(err) && (ctx.Err() == nil || errors.Is(context.Cause(ctx), errSilent)):
		return nil
	case err == nil:
		return io.ErrUnexpectedEOF
	}
	return err
}

func isPing(data []byte) bool {
	return len(data) < 64 && bytes.Contains(data, []byte(`"type"`)) && bytes.Contains(data, []byte(`"ping"`))
}

func isModelError(err error) bool {
	var e *model.Error
	return errors.As(err, &e)
}

// refusal is the error of a response that is not a success.
func refusal(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // what is read of it is enough
	if resp.StatusCode/100 == 3 {
		return &model.Error{Kind: model.ErrBadRequest, Status: resp.StatusCode,
			Message: "the provider's address redirects elsewhere; set the base URL to where it leads"}
	}
	return classify(resp.StatusCode, body, retryAfter(resp.Header, time.Now()))
}

// notStream finds out whether a success is no event stream but a web page or a JSON document.
func notStream(resp *http.Response, body *bufio.Reader) error {
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return nil
	}
	start, err := body.Peek(1)
	if err != nil || start[0] != '{' && start[0] != '<' {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(body, maxError)) // what is read of it is enough
	if code, kind, said := errorBody(text); said != "" {
		e := InStream(said, code, kind)
		e.Status = resp.StatusCode
		return e
	}
	return &model.Error{Kind: model.ErrBadRequest, Status: resp.StatusCode,
		Message: "the server answered with something other than an event stream; check the base URL"}
}

// explain turns any failure into an error that is safe to show. cause is why the watched context
// ended, if it did.
func (c *Client) explain(ctx context.Context, cause, err error) *model.Error {
	var e *model.Error
	var bad *badEventError
	switch {
	case ctx.Err() != nil:
		e = &model.Error{Kind: model.ErrCancelled, Message: "the request was cancelled", Cause: ctx.Err()}
	case errors.As(err, &e):
	case errors.Is(cause, errSilent):
		e = &model.Error{Kind: model.ErrNetwork, Cause: errSilent,
			Message: fmt.Sprintf("the provider sent nothing new for %s", c.idle())}
	case errors.Is(err, errTooLong):
		e = &model.Error{Kind: model.ErrBadRequest, Message: "the server sent an event of more than 8 MiB", Cause: err}
	case errors.As(err, &bad):
		e = &model.Error{Kind: model.ErrServer, Message: "the server sent an event that can't be read", Cause: err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		e = &model.Error{Kind: model.ErrNetwork, Message: "the connection ended before the response was complete", Cause: err}
	default:
		e = &model.Error{Kind: model.ErrNetwork, Message: "can't reach " + c.host() + ": " + reason(err), Cause: err}
	}
	e.Message = clip(c.scrub(e.Message), maxShown)
	if e.Cause != nil {
		e.Cause = &scrubbedError{text: c.scrub(e.Cause.Error()), cause: e.Cause}
	}
	return e
}

func (c *Client) idle() time.Duration {
	if c.Idle > 0 {
		return c.Idle
	}
	return DefaultIdle
}

func (c *Client) host() string {
	if u, err := url.Parse(c.URL); err == nil {
		return u.Host
	}
	return "the provider"
}

// reason is a network error without the method and address in front.
func reason(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return err.Error()
}

func (c *Client) scrub(s string) string {
	for _, secret := range c.Secrets {
		if len(secret) >= 4 {
			s = strings.ReplaceAll(s, secret, "[key]")
		}
	}
	return s
}

// scrubbedError is a cause whose text holds no key.
type scrubbedError struct {
	text  string
	cause error
}

func (e *scrubbedError) Error() string        { return e.text }
func (e *scrubbedError) Is(target error) bool { return errors.Is(e.cause, target) }
