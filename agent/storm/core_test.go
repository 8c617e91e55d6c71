package storm_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/store"
)

// With these set the test binary is a core.
const (
	coreDir    = "STORM_CORE"   // its data root
	coreURL    = "STORM_URL"    // of the model server
	coreSize   = "STORM_SIZE"   // how many conversations it has
	coreOffset = "STORM_OFFSET" // nanoseconds by which its clock is ahead
)

func TestMain(m *testing.M) {
	if os.Getenv(coreDir) != "" {
		if err := runCore(); err != nil {
			fmt.Fprintln(os.Stderr, "core:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// command is what the person does; ID comes back in the answer.
type command struct {
	ID            int
	W, Op         string
	Message       turn.Message
	Picture, Soft bool
	Key, Before   string
	Dispatch      turn.Dispatch
	Seq           uint64
	Choice        turn.Choice
	Offset        time.Duration
}

// told is an answer (ID > 0) or the news of a conversation.
type told struct {
	ID     int
	Error  string
	W      string
	Status *status
}

// status is what a host knows of a conversation.
type status struct {
	State       turn.State
	Queue       []string
	Held        bool
	Retry       time.Time
	Code, Error string
}

func statusOf(s turn.StateChange) *status {
	out := &status{State: s.State, Held: s.Held, Code: s.Code, Error: s.Error}
	for _, q := range s.Queue {
		out.Queue = append(out.Queue, q.ID)
	}
	if s.Retry != nil {
		out.Retry = s.Retry.At
	}
	return out
}

// running is a core at work.
type running struct {
	ahead atomic.Int64 // of its clock
	mu    sync.Mutex   // of the output
	out   *json.Encoder
	talks map[string]*turn.Conversation
}

func (r *running) now() time.Time { return time.Now().Add(time.Duration(r.ahead.Load())) }

func (r *running) tell(t told) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out.Encode(t) != nil {
		os.Exit(0) // nobody is there any more
	}
}

// runCore opens every conversation of a root and does what it is told until its input ends.
func runCore() (err error) {
	r := &running{out: json.NewEncoder(os.Stdout), talks: map[string]*turn.Conversation{}}
	offset, size := time.Duration(0), 0
	if _, err := fmt.Sscan(os.Getenv(coreOffset)+" "+os.Getenv(coreSize), (*int64)(&offset), &size); err != nil {
		return err
	}
	r.ahead.Store(int64(offset))
	dir := os.Getenv(coreDir)
	root, err := store.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	db, err := root.DB(context.Background())
	if err != nil {
		return err
	}
	breakers := turn.NewBreakers(r.now)
	nth := int(dir[len(dir)-1]-'0') * size // so that the cores begin with different formats
	for i := range size {
		w := fmt.Sprint("w", i)
		clients, err := newClients(os.Getenv(coreURL) + "/" + filepath.Base(dir) + w)
		if err != nil {
			return err
		}
		log, err := transcript.Open(filepath.Join(dir, w))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		r.talks[w], err = turn.Start(turn.Config{
			Workspace: w, Log: log, Queue: turn.NewQueue(db, w), Tools: tools(filepath.Join(dir, w+".effects")), Env: noEnv,
			Resolve: clients.resolve, System: func(context.Context) string { return "You are in a storm." },
			Choice: turn.Choice{Model: formats[(nth+i)%len(formats)].id()}, Breakers: breakers, Now: r.now,
			Events: func(e turn.Event) {
				if e.State != nil {
					r.tell(told{W: w, Status: statusOf(*e.State)})
				}
			},
		})
		if err != nil {
			return err
		}
	}
	r.tell(told{W: "ready"})
	return r.obey()
}

func (r *running) obey() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		go func() {
			t := told{ID: c.ID, W: c.W}
			s, err := r.do(&c)
			if t.Status = s; err != nil {
				t.Error = err.Error()
			}
			r.tell(t)
		}()
	}
	for _, c := range r.talks {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		err := c.Close(ctx)
		cancel()
		if err != nil {
			return err
		}
	}
	return lines.Err()
}

func (r *running) do(c *command) (*status, error) {
	ctx, t := context.Background(), r.talks[c.W]
	if c.Picture {
		c.Message.Files = []model.Part{{Kind: model.File, Name: "shot.png", Mime: "image/png", Data: picture()}}
	}
	c.Message.Text = strings.ReplaceAll(c.Message.Text, broken, "\xff") // JSON has no such bytes
	switch c.Op {
	case "send":
		return nil, t.Send(ctx, c.Message)
	case "edit":
		return nil, t.Edit(ctx, c.Seq, c.Message)
	case "editQueued":
		return nil, t.EditQueued(ctx, c.Key, &c.Message.Text, &c.Dispatch)
	case "moveQueued":
		return nil, t.MoveQueued(ctx, c.Key, c.Before)
	case "removeQueued":
		return nil, t.RemoveQueued(ctx, c.Key)
	case "interrupt":
		return nil, t.Interrupt(ctx)
	case "retry":
		return nil, t.Retry(ctx)
	case "stopRetry":
		return nil, t.StopRetry(ctx)
	case "clear":
		return nil, t.Clear(ctx, c.Soft)
	case "choose":
		return nil, t.SetChoice(ctx, c.Choice)
	case "release":
		return nil, t.Release(ctx)
	case "mended":
		return nil, t.Mended(ctx)
	case "advance":
		r.ahead.Store(max(r.ahead.Load(), int64(c.Offset)))
	}
	s, err := t.Snapshot(ctx)
	return statusOf(s.StateChange), err
}
