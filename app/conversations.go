package app

import (
	"context"
	"strings"

	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// Sizes of what hosts get of a conversation.
const (
	firstPage  = 100
	maxPage    = 500
	maxMessage = 1 << 20 // bytes of one message of a person
)

// conversations implements ConversationsAPI.
type conversations struct{ app *App }

func (c conversations) Open(ctx context.Context, args ByID) (Conversation, error) {
	s, err := c.app.session(ctx, args.ID)
	if err != nil {
		return Conversation{}, err
	}
	return s.snapshot()
}

// snapshot is what hosts start from. It holds the live lock, so that the events after it carry
// greater revisions and nothing falls between.
func (s *session) snapshot() (Conversation, error) {
	state := s.current()
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	s.live.flush()
	page, err := s.page(0, firstPage)
	if err != nil {
		return Conversation{}, err
	}
	log := s.reader().State()
	return Conversation{Workspace: s.id, Rev: s.live.rev, Entries: overlay(page.Entries, s.live.entries()),
		More: page.More, Activity: s.app.activity(s.id, state.State), Queue: queueViews(state.Queue), Held: state.Held,
		Todos: todoViews(log.Todos), Model: state.Model, Usage: usageView(log), Damaged: log.Damaged}, nil
}

// overlay puts the entries of the step under way over those read back.
func overlay(read, live []Entry) []Entry {
	at := make(map[string]int, len(read))
	for i := range read {
		at[read[i].ID] = i
	}
	for i := range live {
		if j, ok := at[live[i].ID]; ok {
			read[j] = live[i]
		} else {
			read = append(read, live[i])
		}
	}
	return read
}

// page reads about n entries before an order. A page begins where a step or message does, so that
// every result in it finds its call.
func (s *session) page(before uint64, n int) (Page, error) {
	seq := orderSeq(before)
	for {
		records, more, err := s.reader().Before(seq, 2*n)
		if err != nil {
			return Page{}, err
		}
		from := 0
		if more {
			from = firstBoundary(records)
			if from < 0 {
				n *= 2
				continue
			}
		}
		entries := fold(records[from:], maxShown)
		if len(entries) > 0 || !more {
			return Page{Entries: entries, More: more}, nil
		}
		seq = records[from].Seq
	}
}

// firstBoundary is the index of the first record that a page can begin with, -1 when there is none.
func firstBoundary(records []transcript.Record) int {
	for i := range records {
		switch records[i].Kind {
		case transcript.User, transcript.TurnStart, transcript.StepStart, transcript.Note:
			return i
		case transcript.TurnEnd, transcript.Partial, transcript.Assistant, transcript.ToolStart,
			transcript.ToolEnd, transcript.Todos:
		}
	}
	return -1
}

func (c conversations) Page(ctx context.Context, args PageRequest) (Page, error) {
	s, err := c.app.session(ctx, args.Workspace)
	if err != nil {
		return Page{}, err
	}
	n := args.Limit
	if n <= 0 || n > maxPage {
		n = firstPage
	}
	return s.page(args.Before, n)
}

func (c conversations) Entry(ctx context.Context, args EntryRequest) (Entry, error) {
	s, err := c.app.session(ctx, args.Workspace)
	if err != nil {
		return Entry{}, err
	}
	return s.entry(args.Entry)
}

// entry reads one entry uncut: the records from its step's start to the next boundary hold it.
func (s *session) entry(id string) (Entry, error) {
	seq, ok := parseEntryID(id)
	if !ok {
		return Entry{}, &Error{Code: "bad_request", Message: "There is no such entry."}
	}
	records, err := s.reader().Since(seq - 1)
	if err != nil {
		return Entry{}, err
	}
	end := 1
	for end < len(records) && firstBoundary(records[end:end+1]) < 0 {
		end++
	}
	for _, e := range fold(records[:min(end, len(records))], maxShownFull) {
		if e.ID == id {
			return e, nil
		}
	}
	return Entry{}, &Error{Code: "not_found", Message: "There is no such entry."}
}

func (c conversations) Send(ctx context.Context, args SendMessage) error {
	if strings.TrimSpace(args.Text) == "" {
		return &Error{Code: "empty_message", Message: "Write a message first."}
	}
	if len(args.Text) > maxMessage {
		return &Error{Code: "too_large", Message: "The message is larger than 1 MiB. Put long text into a file and name the file."}
	}
	conv, err := c.conversation(ctx, args.Workspace)
	if err != nil {
		return err
	}
	if err := c.app.usable(ctx, args.Workspace); err != nil {
		return err
	}
	return userError(conv.Send(ctx, args.ID, args.Text))
}

func (c conversations) Interrupt(ctx context.Context, args ByID) error {
	conv, err := c.conversation(ctx, args.ID)
	if err != nil {
		return err
	}
	return userError(conv.Interrupt(ctx))
}

func (c conversations) RemoveQueued(ctx context.Context, args QueueItem) error {
	conv, err := c.conversation(ctx, args.Workspace)
	if err != nil {
		return err
	}
	return userError(conv.RemoveQueued(ctx, args.ID))
}

func (c conversations) Release(ctx context.Context, args ByID) error {
	conv, err := c.conversation(ctx, args.ID)
	if err != nil {
		return err
	}
	return userError(conv.Release(ctx))
}

func (c conversations) conversation(ctx context.Context, id string) (*turn.Conversation, error) {
	s, err := c.app.session(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.writable()
}

func queueViews(in []turn.Queued) []Queued {
	out := make([]Queued, 0, len(in))
	for _, q := range in {
		out = append(out, Queued{ID: q.ID, Text: q.Text, Time: q.At})
	}
	return out
}

func usageView(s transcript.State) Usage {
	return Usage{Input: s.Usage.Input, Output: s.Usage.Output, CacheRead: s.Usage.CacheRead,
		CacheWrite: s.Usage.CacheWrite, Context: s.Context}
}
