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

func (c *Client) exchange(ctx context.Context, w *watch, s *submission, a *Accumulator) error {
	req, err := c.request(ctx, s)
	if err != nil {
		return err
	}
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
		return c.refusal(resp)
	}
	body := bufio.NewReaderSize(resp.Body, 32<<10)
	if err := c.notStream(resp, body); err != nil {
		return err
	}
	return c.read(ctx, w, body, a)
}

func (c *Client) request(ctx context.Context, s *submission) (*http.Request, error) {
	address := c.URL
	if c.Endpoint != nil {
		address = c.Endpoint(s.r)
	}
	body := s.payload()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, body.Reader())
	if err != nil {
		return nil, &model.Error{Kind: model.ErrBadRequest, Message: "the provider's address is not a URL", Cause: err}
	}
	req.ContentLength = body.Size()
	req.GetBody = func() (io.ReadCloser, error) { return body.Reader(), nil }
	s.headers(req.Header)
	if c.Sign == nil {
		return req, nil
	}
	before := req.Header.Clone()
	err = c.Sign(ctx, req, body)
	s.proof = added(before, req.Header)
	if err != nil {
		if isModelError(err) || ctx.Err() != nil {
			return nil, err
		}
		return nil, &model.Error{Kind: model.ErrAuth, Message: err.Error(), Cause: err}
	}
	return req, nil
}

// read takes the events until one ends the response.
func (c *Client) read(ctx context.Context, w *watch, body *bufio.Reader, a *Accumulator) error {
	d := c.Format.Decoder()
	frames := Events
	if f, ok := c.Format.(Framer); ok {
		frames = f.Frames
	}
	err := frames(body, func(data []byte) error {
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
func (c *Client) refusal(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // what is read of it is enough
	if resp.StatusCode/100 == 3 {
		return &model.Error{Kind: model.ErrBadRequest, Status: resp.StatusCode,
			Message: "the provider's address redirects elsewhere; set the base URL to where it leads"}
	}
	e := classify(resp.StatusCode, body, retryAfter(resp.Header, time.Now()))
	if f, ok := c.Format.(Explainer); ok {
		f.Explain(resp.Header, body, e)
	}
	return e
}

// notStream finds out whether a success is no stream but a web page or a JSON document.
func (c *Client) notStream(resp *http.Response, body *bufio.Reader) error {
	kind := resp.Header.Get("Content-Type")
	if f, ok := c.Format.(Framer); strings.HasPrefix(kind, "text/event-stream") || ok && strings.HasPrefix(kind, f.Accept()) {
		return nil
	}
	start, err := body.Peek(1)
	if err != nil || start[0] != '{' && start[0] != '<' && start[0] != '[' {
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
// secrets are what the request's signature added.
func (c *Client) explain(ctx context.Context, cause, err error, secrets []string) *model.Error {
	var e *model.Error
	var bad *badEventError
	switch {
	case ctx.Err() != nil:
		e = &model.Error{Kind: model.ErrCancelled, Message: "the request was cancelled", Cause: ctx.Err()}
	case errors.As(err, &e):
		copied := *e // it may be a value that its maker keeps
		e = &copied
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
		if problem, mend, ok := Distrust(err, c.host()); ok {
			e.Message, e.Hint, e.Final = strings.TrimSuffix(problem, "."), mend, true
		}
	}
	secrets = append(secrets, c.Secrets...)
	e.Message = clip(scrub(e.Message, secrets), maxShown)
	e.Code = clip(scrub(e.Code, secrets), 100)
	if e.Hint == "" {
		e.Hint = hint(e)
	}
	if e.Cause != nil {
		e.Cause = &scrubbedError{text: scrub(e.Cause.Error(), secrets), cause: e.Cause}
	}
	return e
}

func (c *Client) host() string {
	if u, err := url.Parse(c.URL); err == nil && u.Host != "" {
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

func scrub(s string, secrets []string) string {
	for _, secret := range secrets {
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
