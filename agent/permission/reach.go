package permission

import (
	"slices"
	"strings"
)

// places finds out where the script goes.
func (j *commandJudge) places() {
	for _, d := range j.s.dirs {
		if !d.lit || len(j.dirs) > maxDirs {
			j.lost = true
			return
		}
		from := append([]string{j.e.Dir}, j.dirs...)
		for _, f := range from {
			if at := j.e.abs(d.text, f); !slices.Contains(j.dirs, at) {
				j.dirs = append(j.dirs, at)
			}
		}
	}
}

// reachable reports whether a command that only reads stays where it may: in the sandbox, or in the
// project.
func (j *commandJudge) reachable(c *step) bool {
	if j.boxed {
		return true
	}
	if c.wanders {
		return false // it reads what no word of it names
	}
	if c.repo && (j.lost || len(j.dirs) > 0) {
		return false // the settings of a repository that lies there make git run programs
	}
	return !slices.ContainsFunc(c.words[1:], j.leadsOut)
}

// leadsOut reports whether a word could name a file outside of the project.
func (j *commandJudge) leadsOut(w word) bool {
	if !w.lit || j.lost {
		return true
	}
	text := w.text
	if w.option() {
		at := strings.IndexAny(text, "/~")
		if at < 0 {
			return strings.Contains(text, "..")
		}
		if _, value, has := strings.Cut(text, "="); has {
			text = value
		} else {
			return true
		}
	}
	places := j.e.places(text, j.dirs)
	if j.e.any(j.e.Hidden, places) {
		return true
	}
	if strings.HasPrefix(text, "/dev/fd/") || text == "/dev/null" {
		return false
	}
	return !j.e.within(places)
}
