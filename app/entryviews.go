package app

import (
	"carrel/agent/model"
	"carrel/agent/transcript"
)

// maxSources is how many sources an entry names.
const maxSources = 50

func sourceViews(in []model.Source) []Source {
	var out []Source
	for _, s := range in[:min(len(in), maxSources)] {
		out = append(out, Source{URL: s.URL, Title: label(s.Title)})
	}
	return out
}

// filesOf names the files of a message.
func filesOf(m *model.Message) []FileRef {
	if m == nil {
		return nil
	}
	return fileRefs(m.Parts)
}

// fileRefs names the files among parts.
func fileRefs(parts []model.Part) []FileRef {
	var out []FileRef
	for i := range parts {
		if p := &parts[i]; p.Kind == model.File {
			out = append(out, FileRef{Name: label(p.Name), Mime: p.Mime, Blob: p.Blob})
		}
	}
	return out
}

// messageUsage is what a response used and cost.
func messageUsage(r *transcript.Record) *MessageUsage {
	u := r.Message.Usage
	if u == (model.Usage{}) {
		return nil
	}
	out := &MessageUsage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	if r.CostKnown {
		dollars := usd(r.Cost)
		out.USD = &dollars
	}
	return out
}
