package wire

import (
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestOnlyAGoodHelloGetsIn(t *testing.T) { // O-SRV-01, O-SRV-02
	for name, first := range map[string]string{
		"wrong token":  `{"hello":{"token":"no","role":"browser","version":"1"}}`,
		"no token":     `{"hello":{"role":"browser","version":"1"}}`,
		"no such role": `{"hello":{"token":"the token","role":"admin","version":"1"}}`,
		"no hello":     `{"id":1,"call":"projects.list"}`,
		"no JSON":      `hello`,
	} {
		t.Run(name, func(t *testing.T) {
			c := startCore(t)
			h := c.raw(t)
			h.say(first)
			if f := h.hear(); f.Error == nil {
				t.Errorf("heard %+v", f)
			}
			if code := h.closedWith(); code != closeRefused {
				t.Errorf("closed with %d", code)
			}
		})
	}
}

func TestAHugeHelloIsNotTakenIn(t *testing.T) {
	h := startCore(t).raw(t)
	_ = h.Write(t.Context(), websocket.MessageText, make([]byte, maxHello+1)) // the core may close before it has left
	if code := h.closedWith(); code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %d", code)
	}
}

func TestASilentConnectionIsClosed(t *testing.T) {
	c := startCore(t)
	c.waits.hello = 20 * time.Millisecond
	c.raw(t).closedWith()
}

func TestBadFramesEndTheConnection(t *testing.T) {
	for name, send := range map[string]func(h rawHost) error{
		"no JSON":      func(h rawHost) error { return h.Write(h.t.Context(), websocket.MessageText, []byte("{")) },
		"short binary": func(h rawHost) error { return h.Write(h.t.Context(), websocket.MessageBinary, []byte{1}) },
		"too big": func(h rawHost) error {
			return h.Write(h.t.Context(), websocket.MessageText, make([]byte, maxMessage+1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := startCore(t).raw(t)
			h.hello()
			_ = send(h) // the core may close before it has left
			h.closedWith()
		})
	}
}

func TestACoreKnowsWhichTopicsHostsHaveJoined(t *testing.T) {
	c := startCore(t)
	client := c.dial(t, ClientOptions{Join: []string{"conversation/a"}})
	if !c.Joined("conversation/a") || c.Joined("conversation/b") {
		t.Error("after the hello")
	}
	// Each call's answer comes after the frames before it were taken.
	settled := func() {
		t.Helper()
		if err := client.Call(t.Context(), "projects.list", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	client.Join("conversation/b")
	client.Leave("conversation/a")
	settled()
	if c.Joined("conversation/a") || !c.Joined("conversation/b") {
		t.Error("after joining and leaving")
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); c.Joined("conversation/b"); time.Sleep(time.Millisecond) { // no event tells of it
		if time.Now().After(deadline) {
			t.Fatal("a host that left is still counted")
		}
	}
}
