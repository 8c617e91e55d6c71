package turn

import (
	"carrel/agent/model"
	"carrel/agent/transcript"
)

// Replay calls f with every request that a log says was sent, oldest first, as it was sent. Step is
// the seq of its StepStart. It is for tests and for looking into what was sent: it reads the whole
// log.
func Replay(log *transcript.Log, f func(step uint64, r *model.Request) error) error {
	return log.Requests(f)
}
