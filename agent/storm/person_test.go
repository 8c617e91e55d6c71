package storm_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// broken stands for a byte that is no UTF-8 in the texts of a command.
const broken = "{broken}"

// person uses one conversation, at random.
type person struct {
	t      *testing.T
	c      *core
	w      string
	random *rand.Rand
	log    *transcript.Log // read from another process than the one that writes
	last   int             // number of the last message
	sent   map[string]bool // ids of the messages; true: taken out of the queue again, perhaps
	turns  int             // in the log
	seen   uint64          // seq up to which turns are counted
}

// chance is true in n of a thousand cases.
func (p *person) chance(n int) bool { return p.random.IntN(1000) < n }

func (p *person) wait(most time.Duration) {
	select {
	case <-p.c.news[p.w]:
	case <-time.After(time.Duration(p.random.Int64N(int64(most)))):
	}
}

// do gives a command, again while cores die over it, and says what the core answered. Once says that a
// dead core ends it.
func (p *person) do(cmd command) told {
	cmd.W = p.w
	for {
		t, err := p.c.ask(cmd)
		switch {
		case err == nil:
			return t
		case !errors.Is(err, errDied):
			p.t.Fatalf("%s: %v", p.w, err)
		case cmd.Op == "edit": // it may have been done: a message of a known id changes nothing
			cmd.Op = "send"
		}
	}
}

func (p *person) status() status {
	s := p.do(command{Op: "status"}).Status
	if s == nil {
		p.t.Fatalf("%s: no status", p.w)
	}
	return *s
}

func (p *person) choice() turn.Choice {
	levels := []string{"", "low", "high"}
	return turn.Choice{Model: formats[p.random.IntN(len(formats))].id(), Level: levels[p.random.IntN(len(levels))]}
}

// message makes a new one, with a name by which it is found everywhere.
func (p *person) message() command {
	p.last++
	id := fmt.Sprintf("%s%sx%d", "m", p.w, p.last)
	p.sent[id] = false
	cmd := command{Op: "send", Message: turn.Message{ID: id, Text: p.text(id)}, Picture: p.chance(60)}
	if p.chance(300) {
		cmd.Message.Dispatch = turn.AfterTurn
	}
	if p.chance(150) {
		choice := p.choice()
		cmd.Message.Choice = &choice
	}
	return cmd
}

func (p *person) text(id string) string {
	odd := []string{"go on", "\U0001F600 \u2028 <&>", broken, "  ", strings.Repeat("a long word ", 30), "\x00\x1b[31m"}
	return "[[" + id + "]] " + odd[p.random.IntN(len(odd))]
}

// send sends a message and fails when that fails.
func (p *person) send(cmd command) {
	if t := p.do(cmd); t.Error != "" {
		p.t.Errorf("%s: %s %s: %s", p.w, cmd.Op, cmd.Message.ID, t.Error)
	}
}

// edit sends another version of a message of the past, if there is one.
func (p *person) edit() {
	recs, _, err := p.log.Before(0, 200)
	if err != nil {
		p.t.Errorf("%s: read the log: %v", p.w, err)
		return
	}
	recs = slices.DeleteFunc(recs, func(r transcript.Record) bool { return r.Kind != transcript.User })
	cmd := p.message()
	if len(recs) > 0 {
		cmd.Op, cmd.Seq = "edit", recs[p.random.IntN(len(recs))].Seq
	}
	t := p.do(cmd)
	if strings.Contains(t.Error, turn.ErrNoMessage.Error()) { // it was left meanwhile
		cmd.Op = "send"
		t = p.do(cmd)
	}
	if t.Error != "" {
		p.t.Errorf("%s: edit: %s", p.w, t.Error)
	}
}

// round is one thing that the person wants, and whatever happens until the conversation rests.
func (p *person) round() {
	s := p.status()
	over := s.State == turn.Failed || s.State == turn.Interrupted
	switch {
	case s.Held && p.chance(500):
		p.do(command{Op: "release"})
	case over && p.chance(250):
		p.do(command{Op: "retry"})
	case over && p.chance(100):
		p.do(command{Op: "mended"})
	case p.chance(100):
		p.edit()
	case p.chance(15):
		p.do(command{Op: "clear", Soft: p.chance(500)})
	case p.chance(50):
		p.do(command{Op: "choose", Choice: p.choice()})
	default:
		p.send(p.message())
	}
	p.rest(p.mischief)
	p.count()
}

// rest waits until no turn is open and the queue is empty or held. Meanwhile it gives in to temptation.
func (p *person) rest(tempt func(*status)) {
	for deadline := time.Now().Add(2 * patience); ; {
		s := p.status()
		switch {
		case !s.State.Working() && (s.Held || len(s.Queue) == 0):
			return
		case time.Now().After(deadline):
			p.t.Fatalf("%s does not come to rest: %+v", p.w, s)
		}
		tempt(&s)
		p.wait(40 * time.Millisecond)
	}
}

// mischief does something at a random moment.
func (p *person) mischief(s *status) {
	if s.State == turn.Retrying || s.State == turn.Recovering {
		p.impatience(s)
		return
	}
	queued := func() string { return s.Queue[p.random.IntN(len(s.Queue))] }
	switch n := p.random.IntN(1000); {
	case n < 60:
		p.send(p.message())
	case n < 90 && len(s.Queue) > 0:
		key := queued()
		p.do(command{Op: "editQueued", Key: key, Message: turn.Message{Text: p.text(key)}, Dispatch: turn.AfterTurn})
	case n < 110 && len(s.Queue) > 1:
		p.do(command{Op: "moveQueued", Key: queued(), Before: s.Queue[0]})
	case n < 125 && len(s.Queue) > 0:
		key := queued()
		p.sent[key] = true
		p.do(command{Op: "removeQueued", Key: key})
	case n < 150:
		p.do(command{Op: "interrupt"})
	case n < 160:
		p.edit()
	case n < 180:
		p.do(command{Op: "choose", Choice: p.choice()})
	case n < 184:
		p.do(command{Op: "clear", Soft: p.chance(700)})
	case n < 200:
		p.c.kill()
	}
}

// impatience is what a person does about a countdown.
func (p *person) impatience(s *status) {
	switch n := p.random.IntN(100); {
	case n < 5:
		p.do(command{Op: "stopRetry"})
	case n < 12:
		p.do(command{Op: "retry"})
	case n < 16:
		p.do(command{Op: "interrupt"})
	case n < 19:
		p.c.kill()
	case n < 22:
		p.send(p.message())
	case n < 24:
		p.edit()
	default:
		if err := p.c.advance(s.Retry); err != nil && !errors.Is(err, errDied) {
			p.t.Fatalf("%s: %v", p.w, err)
		}
	}
}

// count counts the turns so far.
func (p *person) count() {
	recs, err := p.log.Since(p.seen)
	if err != nil {
		p.t.Errorf("%s: read the log: %v", p.w, err)
		return
	}
	for _, r := range recs {
		p.seen = r.Seq
		if r.Kind == transcript.TurnStart {
			p.turns++
		}
	}
}

// settle ends the storm for a conversation: what is queued is answered, then a last message.
func (p *person) settle() {
	patient := func(s *status) {
		if s.State == turn.Retrying || s.State == turn.Recovering {
			p.do(command{Op: "retry"})
		}
	}
	for {
		p.rest(patient)
		if s := p.status(); len(s.Queue) == 0 {
			break
		}
		p.do(command{Op: "release"})
	}
	for i := range formats {
		p.do(command{Op: "choose", Choice: turn.Choice{Model: formats[i].id()}})
		p.last++
		id := fmt.Sprintf("m%sx%d", p.w, p.last)
		p.sent[id] = false
		p.send(command{Op: "send", Message: turn.Message{ID: id, Text: p.text(id)}})
		p.rest(patient)
		if s := p.status(); s.State != turn.Idle {
			p.t.Errorf("%s: the calm does not come with %s: %+v", p.w, formats[i].id(), s)
		}
	}
	p.count()
}
