package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
)

func TestStreamsEchoAnySizeWithinTheirCredit(t *testing.T) {
	c := startCore(t, func(_ *core, o *Options) { o.Streams = map[string]StreamFunc{"echo": echo} })
	client := c.dial(t, ClientOptions{})
	var all sync.WaitGroup
	for n := range 3 {
		all.Go(func() {
			s, err := client.OpenStream(t.Context(), "echo", nil)
			if err != nil {
				t.Error(err)
				return
			}
			sent := strings.Repeat(fmt.Sprint(n), 2<<20)
			go func() { _, _ = io.WriteString(s, sent) }()
			got := make([]byte, len(sent))
			if _, err := io.ReadFull(s, got); err != nil || string(got) != sent {
				t.Errorf("the echo differs: %v", err)
			}
			_ = s.Close()
		})
	}
	all.Wait()
	s, err := client.OpenStream(t.Context(), "nothing", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(s); err == nil || !strings.Contains(err.Error(), "does not know the stream") {
		t.Errorf("an unknown stream: %v", err)
	}
}

// echo sends back what it gets.
func echo(_ context.Context, s *Stream, _ json.RawMessage) error {
	_, err := io.Copy(s, s)
	return err
}

func TestAStreamThatIsNotReadStopsItsWriter(t *testing.T) {
	wrote := make(chan int, 1000)
	ended := make(chan error, 1)
	flood := func(_ context.Context, s *Stream, _ json.RawMessage) error {
		for {
			n, err := s.Write(make([]byte, 32<<10))
			if err != nil {
				ended <- err
				return nil
			}
			wrote <- n
		}
	}
	c := startCore(t, func(_ *core, o *Options) { o.Streams = map[string]StreamFunc{"flood": flood} })
	client := c.dial(t, ClientOptions{})
	if _, err := client.OpenStream(t.Context(), "flood", nil); err != nil {
		t.Fatal(err)
	}
	for total := 0; total < streamCredit; {
		total += receive(t, wrote)
	}
	if err := client.Call(t.Context(), "projects.list", nil, nil); err != nil { // calls still work
		t.Error(err)
	}
	if len(wrote) > 0 {
		t.Error("more than the credit was written")
	}
	_ = client.Close()
	if err := receive(t, ended); !errors.Is(err, ErrStreamClosed) {
		t.Errorf("the writer ended with %v", err)
	}
}

func TestAHostThatBreaksTheCreditIsLetGo(t *testing.T) {
	c := startCore(t, func(_ *core, o *Options) {
		o.Streams = map[string]StreamFunc{"deaf": func(ctx context.Context, _ *Stream, _ json.RawMessage) error {
			<-ctx.Done()
			return nil
		}}
	})
	h := c.raw(t)
	h.hello()
	_ = h.Write(t.Context(), websocket.MessageBinary, frame(frameOpen, 1, []byte(`{"name":"deaf"}`)))
	_ = h.Write(t.Context(), websocket.MessageBinary, frame(frameData, 1, make([]byte, streamCredit+1)))
	if code := h.closedWith(); code != websocket.StatusPolicyViolation {
		t.Errorf("closed with %d", code)
	}
}
