package main

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"
)

// sample is what one run of some work took.
type sample struct {
	wall time.Duration
	cpu  time.Duration // user and system, children included
	peak int64         // bytes of memory; 0: not measured
}

// pair is our runs and the baseline's.
type pair struct{ ours, base []sample }

// work does something once. What it prepares, it does before it looks at the clock.
type work func(ctx context.Context) (sample, error)

// alternate lets both take turns, each coming first every other time, after a run of each that does
// not count.
func alternate(ctx context.Context, rounds int, base, ours work) (pair, error) {
	var p pair
	for i := range rounds + 1 {
		order := []work{base, ours}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		var got [2]sample
		for j, f := range order {
			if err := ctx.Err(); err != nil {
				return p, err
			}
			s, err := f(ctx)
			if err != nil {
				return p, err
			}
			got[(i+j)%2] = s // 0 is the baseline's
		}
		if i > 0 {
			p.base, p.ours = append(p.base, got[0]), append(p.ours, got[1])
		}
	}
	return p, nil
}

// timed measures work inside this process and in the processes that it waits for.
func timed(f func() error) (sample, error) {
	began, used := time.Now(), usedCPU()
	err := f()
	return sample{wall: time.Since(began), cpu: usedCPU() - used}, err
}

// usedCPU is the CPU time of this process and of the children that it has waited for.
func usedCPU() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

// quiet waits until this process and its children do next to nothing, so that what went before is
// not measured with what comes.
func quiet(ctx context.Context) error {
	const look = 250 * time.Millisecond
	tick := time.NewTicker(look)
	defer tick.Stop()
	deadline := time.Now().Add(time.Minute)
	calm := 0
	for last := usedCPU(); calm < 3; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		now := usedCPU()
		if calm++; now-last > look/25 {
			calm = 0
		}
		last = now
		if time.Now().After(deadline) {
			return fmt.Errorf("wait for quiet: still at work after a minute")
		}
	}
	return nil
}

func wall(all []sample) []time.Duration {
	return each(all, func(s sample) time.Duration { return s.wall })
}
func cpu(all []sample) []time.Duration {
	return each(all, func(s sample) time.Duration { return s.cpu })
}

func each[T any](all []sample, f func(sample) T) []T {
	out := make([]T, len(all))
	for i, s := range all {
		out[i] = f(s)
	}
	return out
}

func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

func least(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return slices.Min(all)
}
