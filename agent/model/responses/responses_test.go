package responses

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"carrel/agent/model"
	"carrel/agent/model/modeltest"
)

// Nothing that a stream starts outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	modeltest.Run(t, modeltest.Subject{
		New: func(t *testing.T, url string, idle time.Duration) model.Streamer {
			t.Helper()
			c, err := New(Options{BaseURL: url, Key: modeltest.Key, Provider: "p", Idle: idle})
			if err != nil {
				t.Fatal(err)
			}
			return c
		},
		Replays: true, OneTool: true, Tier: true, Search: true, NativeParts: true,
	})
}

func FuzzStream(f *testing.F) {
	c, err := New(Options{Key: modeltest.Key, Provider: "p"})
	if err != nil {
		f.Fatal(err)
	}
	modeltest.Fuzz(f, c)
}
