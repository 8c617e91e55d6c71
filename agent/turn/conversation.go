package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"carrel/agent/model"
	"carrel/agent/tokens"
	"carrel/agent/tool"
	"carrel/agent/transcript"
)

// Conversation is a live conversation. Its methods may be called from any goroutine.
type Conversation struct {
	cfg   Config
	log   *transcript.Log
	mail  chan letter
	gone  chan struct{}  // closed when the owner has ended
	quiet chan struct{}  // closed when every goroutine has
	work  sync.WaitGroup // of the goroutines that the owner started

	// The rest belongs to the owner.
	tools   map[string]tool.Tool
	specs   []model.Tool
	system  *string // nil until the first turn
	state   State
	code    string
	problem string
	queue   []Queued
	held    bool
	choice  Choice
	retry   *RetryWait // what Retrying and Recovering wait for
	asking  *asking    // what WaitingForUser waits for
	draft   *draft     // nil while a request is being built
	bare    bare       // what requests leave out since a provider took one without
	spent   int64      // micro-USD
	left    *int64     // of the budget, in micro-USD, when it was last asked; nil without a limit
	gauge   gauge
	tally   *tokens.Tally // nil without a counter
	// failedChoice is the one of the newest turn.
	failedChoice Choice
	breakers     *Breakers
	next         *accepted // a message on disk whose turn is about to begin
	turn         *openTurn // nil when none is open
	waiting      []func(error)
	later        []letter // commands that wait for an interrupt to have taken effect
	strays       []*job   // calls that an interrupt left behind, still ending
	closing      bool
	silent       bool // during Start, before anyone listens
}

// letter is a command for the owner. do calls done once, at once or later.
type letter struct {
	do   func(done func(error))
	done func(error)
}

// accepted is a turn that is about to begin, or to go on: its messages are on disk.
type accepted struct {
	id     string
	choice *Choice // of its message
	queued bool    // messages that wait for a step may join its first request
	opened bool    // the log has its TurnStart
	step   int     // steps that it has had
	tried  int     // attempts that the next step's request has had
	// stepSeq is the newest step's; stale says that the log holds something of an attempt of it that
	// failed.
	stepSeq uint64
	stale   bool
	// pending is the Retry that was waited for when the process ended.
	pending *transcript.Record
	// left is the step whose call waited for a person when the process ended.
	left *leftStep
}

// queueTimeout bounds a call of the queue's database.
const queueTimeout = 5 * time.Second

// Start takes a conversation over. A turn that a crash left open is closed: its calls get results
// that say so, and nothing is run again. One whose call waited for a person waits on; one whose request
// was to be sent again does so. Queued messages are kept and held. When the log can't be
// written, the conversation starts all the same, for reading, and its state says so.
func Start(cfg Config) (*Conversation, error) {
	if cfg.Log == nil || cfg.Queue == nil || cfg.Resolve == nil || cfg.Env == nil {
		return nil, errors.New("start conversation: Log, Queue, Resolve and Env are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Events == nil {
		cfg.Events = func(Event) {}
	}
	if cfg.System == nil {
		cfg.System = func(context.Context) string { return "" }
	}
	c := &Conversation{
		cfg: cfg, log: cfg.Log, choice: cfg.Choice, state: Idle,
		mail: make(chan letter), gone: make(chan struct{}), quiet: make(chan struct{}),
		tools: map[string]tool.Tool{}, breakers: cfg.Breakers, failedChoice: cfg.Choice,
	}
	if cfg.Tokens != nil {
		c.tally = cfg.Tokens.Tally()
	}
	if c.breakers == nil {
		c.breakers = NewBreakers(cfg.Now)
	}
	for _, t := range cfg.Tools {
		s := t.Spec()
		if _, twice := c.tools[s.Name]; twice {
			return nil, fmt.Errorf("start conversation: two tools are named %q", s.Name)
		}
		c.tools[s.Name] = t
		c.specs = append(c.specs, model.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	slices.SortFunc(c.specs, func(a, b model.Tool) int { return strings.Compare(a.Name, b.Name) })
	if err := c.resume(); err != nil {
		return nil, fmt.Errorf("start conversation %q: %w", cfg.Workspace, err)
	}
	go c.own()
	return c, nil
}

// Send gives the conversation a message of the person. It returns when the message is on disk: in
// the log when its turn begins at once, in the queue when a turn is open. A message whose id waits in the
// queue, or is among the last 256 in the log, changes nothing. Sending releases a held queue, which follows after this message.
// ErrFull is wrapped when too many wait.
func (c *Conversation) Send(ctx context.Context, m Message) error {
	q, err := c.queued(m)
	if err != nil {
		return err
	}
	return c.ask(ctx, func(done func(error)) { c.send(q, done) })
}

// Interrupt ends the open turn and returns when it has ended; queued messages are held. Without an
// open turn it does nothing.
func (c *Conversation) Interrupt(ctx context.Context) error {
	return c.ask(ctx, func(done func(error)) {
		if c.turn == nil {
			done(nil)
			return
		}
		c.waiting = append(c.waiting, done)
		c.interrupt()
	})
}

// SetChoice sets who answers from the next turn on.
func (c *Conversation) SetChoice(ctx context.Context, choice Choice) error {
	return c.ask(ctx, func(done func(error)) {
		c.choice = choice
		c.tell()
		done(nil)
	})
}

// Release lets a held queue go on.
func (c *Conversation) Release(ctx context.Context) error {
	return c.ask(ctx, func(done func(error)) {
		if c.held {
			c.held = false
			c.tell()
		}
		done(nil)
	})
}

// Snapshot gives the live part of the conversation.
func (c *Conversation) Snapshot(ctx context.Context) (Snapshot, error) {
	var s Snapshot
	err := c.ask(ctx, func(done func(error)) {
		s = c.snapshot()
		done(nil)
	})
	if err != nil {
		return Snapshot{}, err
	}
	return s, nil
}

// Close interrupts an open turn and returns when every goroutine of the conversation has ended. A call
// that waits for a person goes on waiting after the next Start. The log is then the caller's to close.
func (c *Conversation) Close(ctx context.Context) error {
	err := c.ask(ctx, func(done func(error)) {
		c.closing = true
		switch {
		case c.turn == nil:
		case c.asking != nil && c.asking.reply == nil && !c.turn.interrupted:
			c.turn.suspended = true
			c.turn.stop()
		default:
			c.interrupt()
		}
		done(nil)
	})
	if err != nil && !errors.Is(err, ErrClosed) {
		return err
	}
	select {
	case <-c.quiet:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close conversation %q: %w", c.cfg.Workspace, ctx.Err())
	}
}

// ask posts a command and waits for its answer.
func (c *Conversation) ask(ctx context.Context, do func(done func(error))) error {
	reply := make(chan error, 1)
	l := letter{do: do, done: answer(reply)}
	select {
	case c.mail <- l:
	case <-c.gone:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer gives a function whose first call answers; later calls do nothing.
func answer(reply chan<- error) func(error) {
	return func(err error) {
		select {
		case reply <- err:
		default:
		}
	}
}
