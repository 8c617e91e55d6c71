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

// evaluate gives the value of an expression in the page, as JSON.
func evaluate(ctx context.Context, inspector, expression string) (string, error) {
	text, err := inspect(ctx, inspector, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true})
	if err != nil {
		return "", err
	}
	var out struct {
		Result struct{ Value json.RawMessage }
	}
	err = json.Unmarshal(text, &out)
	return string(out.Result.Value), err
}

// inspect speaks the protocol of WebKit's inspector, whose messages to a page are wrapped, and gives the
// result of one command.
func inspect(ctx context.Context, inspector, method string, params any) (json.RawMessage, error) {
	conn, _, err := websocket.Dial(ctx, "ws://"+inspector+"/socket/1/1/WebPage", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(websocket.StatusNormalClosure, "") }() // it serves one inspector at a time
	conn.SetReadLimit(16 << 20)
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return nil, err
		}
		var in struct {
			Method string
			Params struct {
				TargetInfo struct{ TargetID, Type string }
				Message    string
			}
		}
		if err := json.Unmarshal(data, &in); err != nil {
			return nil, err
		}
		switch in.Method {
		case "Target.targetCreated":
			err = send(ctx, conn, in.Params.TargetInfo.TargetID, method, params)
		case "Target.dispatchMessageFromTarget":
			var out struct {
				ID     int
				Result json.RawMessage
				Error  *struct{ Message string }
			}
			if err := json.Unmarshal([]byte(in.Params.Message), &out); err != nil || out.ID != 1 {
				break
			}
			if out.Error != nil {
				return nil, errors.New(out.Error.Message)
			}
			return out.Result, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func send(ctx context.Context, conn *websocket.Conn, target, method string, params any) error {
	inner, err := json.Marshal(map[string]any{"id": 1, "method": method, "params": params})
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
