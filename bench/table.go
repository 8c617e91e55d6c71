package main

import (
	"fmt"
	"strings"
	"time"
)

// line is one line of the table.
type line struct {
	work           string
	ours, baseline string
	value          float64 // in unit, what the limit is about
	best, cpu      float64 // ratios of the shortest runs and of CPU time; 0: none
	limit          float64
	unit           string // "x" for a ratio
	note           string
}

func (l line) ok() bool { return l.value <= l.limit }

// ratio is a line about two kinds of runs.
func (p pair) ratio(work string, limit float64) line {
	l := line{work: work, unit: "x", limit: limit}
	ours, base := wall(p.ours), wall(p.base)
	l.ours, l.baseline = show(median(ours)), show(median(base))
	l.value = over(median(ours), median(base))
	l.best = over(least(ours), least(base))
	l.cpu = over(median(cpu(p.ours)), median(cpu(p.base)))
	return l
}

func over(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func show(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Millisecond:
		return d.Round(d / 100).Round(10 * time.Microsecond).String()
	}
	return d.Round(10 * time.Nanosecond).String()
}

// table prints lines as they come.
type table struct{ missed, lines int }

const format = "%-66s %10s %10s %9s %7s %7s %8s  %s\n"

func (t *table) head() {
	fmt.Printf(format, "work", "ours", "baseline", "ratio", "best", "cpu", "limit", "verdict")
	fmt.Println(strings.Repeat("-", 130))
}

func (t *table) print(l line) {
	verdict := "ok"
	if !l.ok() {
		verdict = "MISSED"
		t.missed++
	}
	t.lines++
	number := func(v float64) string {
		switch {
		case v == 0:
			return "-"
		case l.unit == "x":
			return fmt.Sprintf("%.2f x", v)
		}
		return fmt.Sprintf("%.3g %s", v, l.unit)
	}
	value := number(l.value)
	if l.unit != "x" && l.value == 0 {
		value = "0 " + l.unit
	}
	limit := number(l.limit)
	if l.limit == 0 {
		limit = "0 " + l.unit
	}
	ratio := func(v float64) string {
		if v == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f x", v)
	}
	fmt.Printf(format, l.work, orDash(l.ours), orDash(l.baseline), value, ratio(l.best), ratio(l.cpu), limit, verdict)
	if l.note != "" {
		fmt.Println("    " + l.note)
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (t *table) note(name, text string) { fmt.Printf("%s: %s\n", name, text) }

func (t *table) foot() {
	if t.missed > 0 {
		fmt.Printf("%d of %d limits missed\n", t.missed, t.lines)
		return
	}
	fmt.Printf("%d limits, none missed\n", t.lines)
}
