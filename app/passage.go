package app

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

const (
	findBatch = 256                    // records that are read at a time
	findTime  = 200 * time.Millisecond // of one call
	findHits  = 500                    // of one call
	maxNeedle = 1000                   // bytes of a text to find
	maxRaw    = 1 << 20                // bytes of an entry's records
	maxStart  = 256 << 10              // bytes of a text that a conversation starts from
)

// Find looks for a text in a conversation, from the newest entries to the oldest. A call ends after a
// moment with what it has; Next says where to go on.
func (c conversations) Find(ctx context.Context, args FindInConversation) (FoundEntries, error) {
	needle := strings.ToLower(args.Text)
	if strings.TrimSpace(needle) == "" || len(needle) > maxNeedle {
		return FoundEntries{}, &Error{Code: "bad_request", Message: "Write what to look for, in at most 1,000 bytes."}
	}
	s, done, err := c.app.session(ctx, args.Workspace)
	if err != nil {
		return FoundEntries{}, userError(err)
	}
	defer done()
	found := FoundEntries{Hits: []FoundEntry{}}
	before := orderSeq(args.Before)
	for begun := time.Now(); ; {
		records, more, err := s.records(before, findBatch)
		if err != nil {
			return FoundEntries{}, userError(err)
		}
		entries := fold(records, maxShownFull, s.reader().State().Turn)
		for i := len(entries) - 1; i >= 0; i-- {
			if n := occurrences(&entries[i], needle); n > 0 {
				found.Hits = append(found.Hits, FoundEntry{Entry: entries[i].ID, Order: entries[i].Order, Count: n})
			}
		}
		if !more || len(records) == 0 {
			found.Next = 0
			return found, nil
		}
		before = records[0].Seq
		if found.Next = before * partsPerStep; time.Since(begun) > findTime || len(found.Hits) >= findHits {
			return found, nil
		}
		if err := ctx.Err(); err != nil {
			return FoundEntries{}, userError(err)
		}
	}
}

// occurrences counts a text, in lower case, in what an entry shows.
func occurrences(e *Entry, needle string) int {
	n := strings.Count(strings.ToLower(e.Text), needle)
	if e.Tool != nil {
		n += strings.Count(strings.ToLower(e.Tool.Input), needle) + strings.Count(strings.ToLower(e.Tool.Output), needle)
		if e.Tool.Detail != nil {
			n += strings.Count(strings.ToLower(e.Tool.Detail.Diff), needle)
		}
	}
	return n
}

// Raw gives the records of the log that an entry was made of.
func (c conversations) Raw(ctx context.Context, args EntryRequest) (RawEntry, error) {
	seq, ok := parseEntryID(args.Entry)
	if !ok {
		return RawEntry{}, &Error{Code: "bad_request", Message: "There is no such entry."}
	}
	s, done, err := c.app.session(ctx, args.Workspace)
	if err != nil {
		return RawEntry{}, userError(err)
	}
	defer done()
	records, err := s.stepFrom(seq)
	if err != nil {
		return RawEntry{}, userError(err)
	}
	if len(records) == 0 || records[0].Seq != seq {
		return RawEntry{}, &Error{Code: "not_found", Message: "There is no such entry."}
	}
	shown := records[:1]
	if records[0].Kind == transcript.StepStart {
		shown = ofEntry(records, args.Entry)
	}
	text, err := json.MarshalIndent(shown, "", "  ")
	if err != nil {
		return RawEntry{}, userError(err)
	}
	return RawEntry{Text: cutText(string(text), maxRaw), Cut: len(text) > maxRaw}, nil
}

// ofEntry gives a step's response and, for a call, what belongs to the call.
func ofEntry(records []transcript.Record, id string) []transcript.Record {
	call := ""
	for i := range records {
		m := records[i].Message
		if m == nil {
			continue
		}
		for part := range m.Parts {
			if m.Parts[part].Kind == model.ToolCall && entryID(records[i].StepSeq, part) == id {
				call = m.Parts[part].CallID
			}
		}
	}
	var out []transcript.Record
	for i := range records {
		if records[i].Message != nil || records[i].CallID != "" && records[i].CallID == call {
			out = append(out, records[i])
		}
	}
	return out
}

// StartHere makes an answer all that models know of the conversation.
func (c conversations) StartHere(ctx context.Context, args EntryRequest) error {
	e, err := c.Entry(ctx, args)
	if err != nil {
		return err
	}
	if e.Kind != EntryAssistant || e.Reasoning || e.Live || strings.TrimSpace(e.Text) == "" {
		return &Error{Code: "bad_request", Message: "A conversation can start from a complete answer only."}
	}
	if len(e.Text) > maxStart {
		return &Error{Code: "too_large", Message: "The answer is larger than 256 KiB. Ask for a shorter one to start from."}
	}
	return c.steer(ctx, args.Workspace, func(conv *turn.Conversation) error { return conv.StartHere(ctx, e.Text) })
}

// UndoStart takes StartHere back.
func (c conversations) UndoStart(ctx context.Context, args EntryRequest) error {
	seq, ok := parseEntryID(args.Entry)
	if !ok {
		return &Error{Code: "bad_request", Message: "There is no such entry."}
	}
	err := c.steer(ctx, args.Workspace, func(conv *turn.Conversation) error {
		if err := conv.UndoStart(ctx, seq); errors.Is(err, turn.ErrNoStart) {
			return &Error{Code: "conflict", Message: "The conversation went on since. Fork it from an earlier message to have the whole again."}
		} else {
			return err
		}
	})
	return err
}
