package responses

import (
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/modeltest"
)

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
		Replays: true,
	})
}
