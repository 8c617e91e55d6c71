package bedrock

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"carrel/agent/model"
	"carrel/agent/model/anthropic"
	"carrel/agent/model/modeltest"
	"carrel/agent/model/wire"
)

// Nothing that a stream starts outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// format is how a model is asked.
func format(converse bool) Messages {
	if converse {
		return nil
	}
	return anthropic.Format()
}

func subject(converse bool) modeltest.Subject {
	s := modeltest.Subject{
		New: func(t *testing.T, url string, idle time.Duration) model.Streamer {
			t.Helper()
			c, err := New(Options{BaseURL: url, Bearer: modeltest.Key, Provider: "p", Claude: format(converse), Idle: idle})
			if err != nil {
				t.Fatal(err)
			}
			return c
		},
		Replays: true, CacheWrite: true, Tier: true, Params: []string{`"temperature":0.5`},
	}
	if !converse {
		s.UsageEarly, s.CacheHour, s.OneTool = true, true, true
	}
	return s
}

func TestConformance(t *testing.T) { modeltest.Run(t, subject(false)) }

func TestConformanceOfConverse(t *testing.T) { modeltest.Run(t, subject(true)) }

func fuzzed(f *testing.F, converse bool) *wire.Client {
	c, err := New(Options{BaseURL: "http://localhost:1", Bearer: modeltest.Key, Provider: "p", Claude: format(converse)})
	if err != nil {
		f.Fatal(err)
	}
	return c
}

func FuzzClaude(f *testing.F) { modeltest.Fuzz(f, fuzzed(f, false)) }

func FuzzConverse(f *testing.F) { modeltest.Fuzz(f, fuzzed(f, true)) }
