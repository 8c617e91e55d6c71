package app

import (
	"carrel/agent/transcript"
)

// snapshot is what hosts start from: the newest entries, about n, and the state. Most is read before
// the live lock is taken, so that the conversation's owner hardly waits. The rest is read under it,
// so that the events after it carry greater revisions and nothing falls between.
func (s *session) snapshot(n int) (Conversation, error) {
	records, more, err := s.records(0, n)
	if err != nil {
		return Conversation{}, err
	}
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	s.live.flush()
	newer, err := s.reader().Since(lastSeq(records))
	if err != nil {
		return Conversation{}, err
	}
	log := s.reader().State()
	entries := fold(append(records, newer...), maxShown, log.Turn)
	return Conversation{Rev: s.live.rev.Load(), Workspace: s.id, More: more, Entries: overlay(entries, s.live.entries()),
		Status: s.status(), Damaged: log.Damaged}, nil
}

func lastSeq(records []transcript.Record) uint64 {
	if len(records) == 0 {
		return 0
	}
	return records[len(records)-1].Seq
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

// page reads about n entries before an order.
func (s *session) page(before uint64, n int) (Page, error) {
	records, more, err := s.records(orderSeq(before), n)
	if err != nil {
		return Page{}, err
	}
	return Page{Entries: fold(records, maxShown, s.reader().State().Turn), More: more}, nil
}

// around reads about n entries with those of an order's step or message in the middle, however far back
// it is.
func (s *session) around(order uint64, n int) (Page, error) {
	seq := orderSeq(order)
	older, more, err := s.records(seq+1, max(n/2, 1))
	if err != nil {
		return Page{}, err
	}
	newer, rest, err := s.onward(seq, max(n/2, 1))
	if err != nil {
		return Page{}, err
	}
	return Page{Entries: fold(append(older, newer...), maxShown, s.reader().State().Turn), More: more, Newer: rest}, nil
}

// after reads about n entries of the steps and messages that follow that of an order.
func (s *session) after(order uint64, n int) (Page, error) {
	step, err := s.stepFrom(orderSeq(order))
	if err != nil {
		return Page{}, err
	}
	records, rest, err := s.onward(max(lastSeq(step), orderSeq(order)), n)
	return Page{Entries: fold(records, maxShown, s.reader().State().Turn), Newer: rest}, err
}

// onward reads what about n entries newer than seq are made of, and whether there are newer ones. It ends
// where a step or message does.
func (s *session) onward(seq uint64, n int) ([]transcript.Record, bool, error) {
	for n, most := 2*n, pageBytes; ; n, most = 2*n, 2*most {
		records, more, err := s.reader().After(seq, n)
		if err != nil {
			return nil, false, err
		}
		end, ok := pageEnd(records, more, most)
		if !ok {
			continue
		}
		if records, more = records[:end], more || end < len(records); !more || len(fold(records, maxShown, "")) > 0 {
			return records, more, nil
		}
	}
}

// pageEnd is where a page of the records ends: before the newest boundary that keeps it at most that many
// bytes. It is false when the records are too few for one, and there are more.
func pageEnd(records []transcript.Record, more bool, most int) (int, bool) {
	end, size := -1, 0
	for i := range records {
		if i > 0 && boundary(&records[i]) {
			end = i
		}
		if size += shownSize(&records[i]); size > most && end >= 0 {
			return end, true
		}
	}
	if !more {
		return len(records), true
	}
	return end, end >= 0
}

// records reads what about n entries are made of, older than seq (0: the newest), and whether there
// are older ones; where there are, it has at least one entry to page on from. It begins where a step
// or message does, so that every result finds its call.
func (s *session) records(seq uint64, n int) ([]transcript.Record, bool, error) {
	for n, most := 2*n, pageBytes; ; n, most = 2*n, 2*most {
		records, more, err := s.reader().Before(seq, n)
		if err != nil {
			return nil, false, err
		}
		from, ok := pageStart(records, more, most)
		if !ok {
			continue
		}
		records, more = records[from:], more || from > 0
		if !more || len(fold(records, maxShown, "")) > 0 {
			return records, more, nil
		}
	}
}

// pageStart is where a page begins in the records before its end: at the oldest boundary that keeps
// it at most that many bytes. It is false when the records are too few for one, and there are more.
func pageStart(records []transcript.Record, more bool, most int) (int, bool) {
	start, size := -1, 0
	for i := len(records) - 1; i >= 0; i-- {
		size += shownSize(&records[i])
		if size > most && start >= 0 {
			return start, true
		}
		if boundary(&records[i]) {
			start = i
		}
	}
	if !more {
		return 0, true
	}
	return start, start >= 0
}

// boundary reports whether a page can begin with a record.
func boundary(r *transcript.Record) bool {
	switch r.Kind {
	case transcript.User, transcript.TurnStart, transcript.StepStart:
		return true
	case transcript.Note:
		return r.StepSeq == 0 // else results after it belong to calls before it
	case transcript.TurnEnd, transcript.Partial, transcript.Assistant, transcript.ToolStart,
		transcript.ToolEnd, transcript.Todos, transcript.Setup, transcript.Edit, transcript.Boundary, transcript.Retry,
		transcript.Question, transcript.Answer:
	}
	return false
}

// shownSize is about how many bytes of a record hosts get.
func shownSize(r *transcript.Record) int {
	n := 256 + min(len(r.Note)+len(r.Error), maxShown)
	if r.Message != nil {
		for i := range r.Message.Parts {
			n += min(len(r.Message.Parts[i].Text), maxShown) + min(len(r.Message.Parts[i].Input), maxShown)
		}
	}
	if r.Result != nil {
		n += min(len(partsText(r.Result.Parts)), maxShown)
	}
	if r.Detail != nil {
		n += len(r.Detail.Diff) + len(r.Detail.Screen)
	}
	return n
}

// entryBatch is how many records are read at a time to find an entry's end.
const entryBatch = 64

// entry reads one entry uncut. One that still grows is given as hosts were told of it.
func (s *session) entry(id string) (Entry, error) {
	seq, ok := parseEntryID(id)
	if !ok {
		return Entry{}, &Error{Code: "bad_request", Message: "There is no such entry."}
	}
	if e, ok := s.live.growing(id); ok {
		return e, nil
	}
	records, err := s.stepFrom(seq)
	if err != nil {
		return Entry{}, err
	}
	for _, e := range fold(records, maxShownFull, s.reader().State().Turn) {
		if e.ID == id {
			return e, nil
		}
	}
	return Entry{}, &Error{Code: "not_found", Message: "There is no such entry."}
}

// stepFrom reads the records from a step's or message's first one to the next boundary.
func (s *session) stepFrom(seq uint64) ([]transcript.Record, error) {
	var out []transcript.Record
	for last := seq - 1; ; last = lastSeq(out) {
		batch, more, err := s.reader().After(last, entryBatch)
		if err != nil {
			return nil, err
		}
		for i := range batch {
			if len(out) > 0 && boundary(&batch[i]) {
				return out, nil
			}
			out = append(out, batch[i])
		}
		if !more {
			return out, nil
		}
	}
}

// growing gives an entry of the step under way that is not complete.
func (l *live) growing(id string) (Entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.step.entries {
		if e.ID == id && (e.Live || e.Tool != nil && (e.Tool.Status == ToolPending || e.Tool.Status == ToolRunning)) {
			l.flush()
			return copyEntry(e), true
		}
	}
	return Entry{}, false
}
