package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// bestFiles are the n files that fit a query best, best first. The letters of the query must be in the
// path, in their order, whatever their case. Without a query they are those nearest to the root.
func bestFiles(ctx context.Context, files []listedFile, query string, n int) []string {
	query = strings.ToLower(query)
	type found struct {
		*listedFile
		score int
	}
	better := func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.path), len(b.path)), strings.Compare(a.path, b.path))
	}
	best := make([]found, 0, n+1)
	for i := range files {
		if i%4096 == 0 && ctx.Err() != nil {
			break
		}
		score, ok := fileScore(&files[i], query)
		if !ok {
			continue
		}
		f := found{&files[i], score}
		if len(best) == n && better(f, best[n-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, f, better)
		best = slices.Insert(best, at, f)
		if len(best) > n {
			best = best[:n]
		}
	}
	out := make([]string, len(best))
	for i, f := range best {
		out[i] = f.path
	}
	return out
}

// fileScore says how well a path fits a lower-case query: best when its name is the query, then when the
// name begins with it, has it, has its letters; then the same of the whole path.
func fileScore(f *listedFile, query string) (score int, ok bool) {
	if query == "" {
		return -strings.Count(f.path, "/") * 1000, true
	}
	name := f.lower[min(f.base, len(f.lower)):]
	switch {
	case name == query:
		return 100_000, true
	case strings.HasPrefix(name, query):
		return 90_000, true
	}
	if at := strings.Index(name, query); at >= 0 {
		if wordStart(name, at) {
			return 85_000, true
		}
		return 80_000, true
	}
	if strings.HasPrefix(f.lower, query) {
		return 75_000, true
	}
	if at := strings.Index(f.lower, query); at >= 0 {
		if wordStart(f.lower, at) {
			return 72_000, true
		}
		return 70_000, true
	}
	if s, ok := spread(name, query); ok {
		return 40_000 + s, true
	}
	if s, ok := spread(f.lower, query); ok {
		return s, true
	}
	return 0, false
}

// spread finds the letters of a query in their order; letters that begin a word or follow each other count
// more, and gaps cost.
func spread(text, query string) (score int, ok bool) {
	last := -1
	for i := range len(query) {
		rest := strings.IndexByte(text[last+1:], query[i])
		if rest < 0 {
			return 0, false
		}
		at := last + 1 + rest
		switch {
		case rest == 0 && last >= 0:
			score += 12
		case wordStart(text, at):
			score += 10
		}
		score -= min(rest, 20)
		last = at
	}
	return score, true
}

// wordStart tells whether a word begins there.
func wordStart(text string, at int) bool {
	return at == 0 || strings.IndexByte("/_-. ", text[at-1]) >= 0
}
