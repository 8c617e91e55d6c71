package transcript

import "slices"

// leaves reports whether a record leaves those before it that it names.
func leaves(r *Record) bool {
	return (r.Kind == Edit || r.Kind == User) && r.From > 0 && r.From < r.Seq
}

// leave takes the records from seq from on out of everything that is kept of the log. It costs
// reading the step or the turn in which they begin, and for a whole turn a search of the index.
func (l *Log) leave(from uint64) error {
	n, err := l.idx.search(from)
	if err != nil {
		return err
	}
	gone, err := l.idx.entries(n, l.idx.count())
	if err != nil || len(gone) == 0 {
		return err
	}
	l.gen++ // a history that is being built may hold them
	l.st.closeStep()
	if l.st.Turn != "" && l.st.StepSeq > 0 && l.st.StepSeq < from && !slices.ContainsFunc(gone, outlivesStep) {
		return l.refold(n, l.st.StepSeq)
	}
	return l.refoldTurn(n, gone)
}

// outlivesStep reports whether a record changes State beyond its step.
func outlivesStep(e entry) bool {
	inStep := []class{classPartial, classToolStart, classToolEnd, classNote, classRetry}
	return !slices.Contains(inStep, e.class)
}

// refoldTurn makes State what it was before entry n, apart from what was used and the ids of
// messages, which are never taken back.
func (l *Log) refoldTurn(n int, gone []entry) error {
	old := l.st
	at, err := l.idx.last(n, classTurnStart, classTurnEnd)
	if err != nil {
		return err
	}
	turn := max(at[0], at[1], 0)
	if at, err = l.idx.last(turn, classTurnStart, classTurnEnd, classAssistant, classTodos, classSetup, classStart, classClear); err != nil {
		return err
	}
	slices.Sort(at)
	l.st = State{}
	for _, i := range at {
		if i < 0 {
			continue
		}
		r, err := l.records(i, i+1)
		if err != nil {
			return err
		}
		l.st.apply(&r[0])
	}
	l.st.LastSeq, l.st.Damaged, l.st.Torn, l.st.MessageIDs = old.LastSeq, old.Damaged, old.Torn, old.MessageIDs
	l.st.Usage, l.st.Cost = old.Usage, old.Cost
	if l.st.Messages, err = l.messagesBefore(n, gone, old); err != nil {
		return err
	}
	first, err := l.idx.entries(turn, min(turn+1, n))
	if err != nil {
		return err
	}
	if old.Start != l.st.Start { // what is before the Boundary was not kept
		l.hist = nil
	}
	if len(first) == 0 {
		if l.hist != nil {
			l.hist.cut(0)
		}
		l.idx.cut(n)
		return nil
	}
	return l.refold(n, first[0].seq)
}

// messagesBefore counts the messages of people and the responses before entry n.
func (l *Log) messagesBefore(n int, gone []entry, old State) (int, error) {
	count := func(es []entry) (m int) {
		for _, e := range es {
			if e.class == classUser || e.class == classAssistant {
				m++
			}
		}
		return m
	}
	if gone[0].seq > old.Cleared {
		return old.Messages - count(gone), nil
	}
	at, err := l.idx.last(n, classClear)
	if err != nil {
		return 0, err
	}
	es, err := l.idx.entries(at[0]+1, n)
	return count(es), err
}

// refold takes the entries from n on away and folds those from the record seq up to there in
// again. That record closes a step.
func (l *Log) refold(n int, seq uint64) error {
	lo, err := l.idx.search(seq)
	if err != nil {
		return err
	}
	recs, err := l.records(lo, n)
	if err != nil {
		return err
	}
	l.idx.cut(n)
	if l.hist != nil {
		l.hist.cut(seq)
	}
	kept := l.st
	for i := range recs {
		l.st.apply(&recs[i])
		if l.hist != nil {
			l.hist.apply(&recs[i])
		}
	}
	l.st.LastSeq, l.st.MessageIDs, l.st.Messages = kept.LastSeq, kept.MessageIDs, kept.Messages
	l.st.Usage, l.st.Cost = kept.Usage, kept.Cost
	return nil
}
