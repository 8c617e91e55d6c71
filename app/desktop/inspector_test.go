//go:build linux && desktop && window

package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/coder/websocket"
)

// show waits until the page in the window shows a text.
func (s *stage) show(text string) {
	s.t.Helper()
	s.eventually("the page shows "+strconv.Quote(text), func() bool {
		return s.ask("document.body.innerText.includes("+strconv.Quote(text)+")") == "true"
	})
}

// focused waits until the page's focus is on an element that matches the selector.
func (s *stage) focused(selector string) {
	s.t.Helper()
	s.eventually("the focus is on "+selector, func() bool {
		return s.ask("!!document.activeElement?.matches("+strconv.Quote(selector)+")") == "true"
	})
}

// ask evaluates an expression in the page and returns its value as JSON, "" when there is no page
// just now.
func (s *stage) ask(expression string) string {
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	value, err := evaluate(ctx, s.inspector, expression)
	if err != nil && !errors.Is(err, context.Canceled) {
		return ""
	}
	return value
}

// evaluate speaks the protocol of WebKit's inspector, whose messages to a page are wrapped.
func evaluate(ctx context.Context, inspector, expression string) (string, error) {
	conn, _, err := websocket.Dial(ctx, "ws://"+inspector+"/socket/1/1/WebPage", nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(websocket.StatusNormalClosure, "") }() // it serves one inspector at a time
	conn.SetReadLimit(16 << 20)
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return "", err
		}
		var in struct {
			Method string
			Params struct {
				TargetInfo struct{ TargetID, Type string }
				Message    string
			}
		}
		if err := json.Unmarshal(data, &in); err != nil {
			return "", err
		}
		switch in.Method {
		case "Target.targetCreated":
			err = send(ctx, conn, in.Params.TargetInfo.TargetID, expression)
		case "Target.dispatchMessageFromTarget":
			var out struct {
				ID     int
				Result struct {
					Result struct{ Value json.RawMessage }
				}
			}
			if err := json.Unmarshal([]byte(in.Params.Message), &out); err == nil && out.ID == 1 {
				return string(out.Result.Result.Value), nil
			}
		}
		if err != nil {
			return "", err
		}
	}
}

func send(ctx context.Context, conn *websocket.Conn, target, expression string) error {
	inner, err := json.Marshal(map[string]any{"id": 1, "method": "Runtime.evaluate",
		"params": map[string]any{"expression": expression, "returnByValue": true}})
	if err != nil {
		return err
	}
	outer, err := json.Marshal(map[string]any{"id": 1, "method": "Target.sendMessageToTarget",
		"params": map[string]any{"targetId": target, "message": string(inner)}})
	if err != nil {
		return fmt.Errorf("encode a message to the page: %w", err)
	}
	return conn.Write(ctx, websocket.MessageText, outer)
}
