package git

import (
	"context"
	"slices"
	"strings"
	"time"
)

// A state that takes longer than this is reported as failed.
const stateTimeout = 2 * time.Minute

// touch notes a change.
func (k *watched) touch(now time.Time, p pace) {
	if k.poked {
		return // it is read in a moment, and will show this change too
	}
	if k.due.IsZero() {
		k.first = now
	}
	k.due = now.Add(p.settle)
	if latest := k.first.Add(p.longest); p.longest > 0 && k.due.After(latest) {
		k.due = latest
	}
	if rested := k.read.Add(time.Duration(p.rest) * k.took); k.due.Before(rested) {
		k.due = rested
	}
}

// poke notes a change that somebody knows of. One who pokes all the time does not put off the read.
func (k *watched) poke(now time.Time, p pace) {
	if k.poked {
		return
	}
	k.poked = true
	if soon := now.Add(p.arrive); k.due.IsZero() || k.due.After(soon) {
		k.due = soon
	}
}

// work starts what is due, at most one thing per repository, and says when to look again.
func (w *Watcher) work(ctx context.Context, results chan<- result, now time.Time) time.Duration {
	wait := time.Hour
	soon := func(at time.Time) { wait = min(wait, max(at.Sub(now), time.Millisecond)) }
	for _, r := range w.repos {
		switch {
		case r.busy || r.refs.IsZero():
		case r.refs.After(now):
			soon(r.refs)
		default:
			w.readRefs(ctx, results, r)
		}
	}
	for _, k := range w.keys {
		r := w.repoOf(k)
		switch {
		case r.busy || k.due.IsZero():
		case k.due.After(now):
			soon(k.due)
		default:
			w.readState(ctx, results, r, k, false)
		}
	}
	if k := w.nextIdle(now); k != nil {
		if at := later(w.poll, k.read.Add(w.ageOf(k))); at.After(now) {
			soon(at)
		} else if r := w.repoOf(k); !r.busy {
			w.readState(ctx, results, r, k, true)
		}
	}
	return wait
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (w *Watcher) repoOf(k *watched) *watchedRepo {
	r := w.repos[k.common]
	if r == nil {
		r = &watchedRepo{common: k.common}
		w.repos[k.common] = r
	}
	return r
}

// ageOf is how old a state must be to be read without a cause.
func (w *Watcher) ageOf(k *watched) time.Duration {
	if k.err != "" {
		return max(w.pace.age, time.Duration(w.pace.unwatched)*k.took) // it may have hung
	}
	if w.visible[k.key] || k.unwatched {
		return w.pace.age / 4
	}
	return w.pace.age
}

// nextIdle is the checkout that waits longest to be read without a cause.
func (w *Watcher) nextIdle(now time.Time) *watched {
	var best *watched
	var bestAt time.Time
	for _, k := range w.keys {
		if !k.due.IsZero() || k.read.IsZero() {
			continue // it is read anyway
		}
		if at := k.read.Add(w.ageOf(k)); best == nil || at.Before(bestAt) {
			best, bestAt = k, at
		}
	}
	return best
}

// readState reads one state in a goroutine of its own and reports it from there.
func (w *Watcher) readState(ctx context.Context, results chan<- result, r *watchedRepo, k *watched, idle bool) {
	r.busy = true
	w.reads++
	k.due, k.poked = time.Time{}, false
	old, oldErr, known := k.state, k.err, k.known
	seats := w.seatsOf(k)
	w.running.Add(1)
	go func() {
		defer w.running.Done()
		began := time.Now()
		limited, cancel := context.WithTimeout(ctx, stateTimeout)
		limited, used := countCPU(limited)
		s, err := w.g.State(limited, k.dir, k.base)
		cancel()
		took := time.Since(began)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if ctx.Err() == nil && !k.gone.Load() && (!known || s != old || text != oldErr) {
			w.onChange(k.key, s, err)
		}
		there := !slices.ContainsFunc(seats, func(s seat) bool { return !s.taken() })
		w.send(ctx, results, result{r, func() {
			k.known, k.state, k.err, k.took, k.cost, k.read = true, s, text, took, time.Duration(used.Load()), time.Now()
			if idle {
				w.paceIdle(k)
			}
			if !k.gone.Load() && (k.gitDir == "" || !there) {
				w.reinstall(k)
			}
		}})
	}()
}

func (w *Watcher) send(ctx context.Context, results chan<- result, r result) {
	select {
	case results <- r:
	case <-ctx.Done():
	}
}

// paceIdle sets when the next state may be read without a cause.
func (w *Watcher) paceIdle(k *watched) {
	if k.err != "" { // its own age paces it; one that hangs must not slow down the others
		w.poll = k.read.Add(w.pace.gap)
		return
	}
	factor := w.pace.idle
	if k.unwatched {
		factor = w.pace.unwatched
	}
	w.poll = k.read.Add(max(w.pace.gap, time.Duration(factor)*k.cost))
}

// readRefs finds which branches and bases have moved, with one process for the whole repository.
func (w *Watcher) readRefs(ctx context.Context, results chan<- result, r *watchedRepo) {
	var keys []*watched
	var names strings.Builder
	for _, k := range w.keys {
		if k.common != r.common || k.base == "" && k.state.Branch == "" || strings.ContainsAny(k.base, "\x00\n") {
			continue
		}
		keys = append(keys, k)
		for _, name := range []string{"refs/heads/" + k.base, "refs/remotes/" + k.base, k.base, "refs/heads/" + k.state.Branch} {
			names.WriteString(name + "^{commit}\n")
		}
	}
	r.refs = time.Time{}
	if len(keys) == 0 {
		return
	}
	r.busy = true
	w.running.Add(1)
	go func() {
		defer w.running.Done()
		limited, cancel := context.WithTimeout(ctx, stateTimeout)
		defer cancel()
		out, err := w.g.run(limited, call{
			dir: keys[0].dir, args: []string{"cat-file", "--batch-check=%(objectname)"}, read: true,
			stdin: strings.NewReader(names.String()),
		})
		w.send(ctx, results, result{r, func() { w.moved(keys, string(out.Stdout), err) }})
	}()
}

// moved touches the checkouts whose branch or base is not where it was.
func (w *Watcher) moved(keys []*watched, answer string, err error) {
	lines := strings.Split(answer, "\n")
	now := time.Now()
	for i, k := range keys {
		if err != nil || len(lines) < 4*(i+1) {
			k.touch(now, w.pace) // unknown: look
			continue
		}
		base := "none"
		for _, line := range lines[4*i : 4*i+3] {
			if !strings.Contains(line, " ") {
				base = line
				break
			}
		}
		branch := lines[4*i+3]
		if k.base != "" && k.baseTip != "" && k.baseTip != base ||
			k.known && k.state.Branch != "" && branch != k.state.Commit && !strings.Contains(branch, " ") {
			k.touch(now, w.pace)
		}
		k.baseTip = base
	}
}
