package storm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/tool"
)

func noEnv(context.Context) (tool.Env, error) { return tool.Env{}, nil }

// picture is a small one.
func picture() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		panic(err) // into memory
	}
	return b.Bytes()
}

// working is a tool of the storm.
type working struct {
	name     string
	readOnly bool
	run      func(ctx context.Context, nonce string) tool.Result
}

func (w working) Spec() tool.Spec {
	return tool.Spec{Name: w.name, Description: "does " + w.name, ReadOnly: w.readOnly,
		Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}`)}
}

func (w working) Run(ctx context.Context, c tool.Call) tool.Result {
	var in struct{ N string }
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return tool.Fail("no input: " + err.Error())
	}
	if c.Env.Progress != nil {
		c.Env.Progress("working on " + in.N + "\n")
	}
	return w.run(ctx, in.N)
}

// tools do all that tools do. Those that change something leave a line in the file for each run, over
// crashes.
func tools(effects string) []tool.Tool {
	leave := func(nonce string) error {
		f, err := os.OpenFile(effects, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		_, err = fmt.Fprintln(f, nonce)
		return err
	}
	wait := func(ctx context.Context, d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	ran := func(n string) tool.Result { return tool.Text("ran " + n) }
	return []tool.Tool{
		working{"write", false, func(_ context.Context, n string) tool.Result {
			if err := leave(n); err != nil {
				return tool.Fail(err.Error())
			}
			return ran(n)
		}},
		working{"slow", false, func(ctx context.Context, n string) tool.Result {
			if err := leave(n); err != nil {
				return tool.Fail(err.Error())
			}
			wait(ctx, 30*time.Millisecond)
			return ran(n)
		}},
		working{"deaf", true, func(_ context.Context, n string) tool.Result {
			wait(context.Background(), 150*time.Millisecond)
			return ran(n)
		}},
		working{"read", true, func(_ context.Context, n string) tool.Result { return ran(n) }},
		working{"big", true, func(_ context.Context, n string) tool.Result {
			return tool.Text(strings.Repeat("line of "+n+"\n", 400))
		}},
		working{"shot", true, func(ctx context.Context, n string) tool.Result {
			wait(ctx, 10*time.Millisecond)
			return tool.Result{IsError: strings.HasSuffix(n, "3"), Parts: []model.Part{
				{Kind: model.Text, Text: "picture " + n}, {Kind: model.File, Mime: "image/png", Data: picture()}}}
		}},
		working{"void", true, func(context.Context, string) tool.Result { return tool.Result{} }},
		working{"odd", true, func(context.Context, string) tool.Result { return tool.Text("\xff \x00 \u2028 \U0001F600") }},
		working{"boom", true, func(context.Context, string) tool.Result { panic("the tool's own fault") }},
	}
}
