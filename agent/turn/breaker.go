package turn

import "time"

// Breakers are the circuit breakers of the providers, one each, shared by all conversations.
type Breakers struct {
	now func() time.Time
}

// NewBreakers makes breakers that are all closed. now nil is time.Now.
func NewBreakers(now func() time.Time) *Breakers {
	if now == nil {
		now = time.Now
	}
	return &Breakers{now: now}
}
