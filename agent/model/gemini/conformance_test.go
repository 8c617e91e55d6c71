package gemini

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"carrel/agent/model"
	"carrel/agent/model/modeltest"
)

// Nothing that a stream starts outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func subject(old bool) modeltest.Subject {
	return modeltest.Subject{
		New: func(t *testing.T, url string, idle time.Duration) model.Streamer {
			t.Helper()
			if old {
				url += "/old"
			}
			c, err := New(Options{BaseURL: url, Key: modeltest.Key, Provider: "p", Old: old, Idle: idle})
			if err != nil {
				t.Fatal(err)
			}
			return c
		},
		UsageEarly: true, Whole: true, Search: !old, NativeParts: true,
		Params: []string{`"topP":0.25`, `"maxOutputTokens":`},
	}
}

func TestConformance(t *testing.T) { modeltest.Run(t, subject(false)) }

func TestConformanceOfOldModels(t *testing.T) { modeltest.Run(t, subject(true)) }

func FuzzStream(f *testing.F) {
	c, err := New(Options{Key: modeltest.Key, Provider: "p"})
	if err != nil {
		f.Fatal(err)
	}
	modeltest.Fuzz(f, c)
}
