package tool

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// What the model gets of a command's output: at most 16 KiB, the beginning and, since errors come
// last, more of the end.
const (
	headBytes = 6 << 10
	tailBytes = 9<<10 + 512
	headLines = 300
	tailLines = 500
)

// output collects what a command writes, in bounded memory: the head, the tail and, once these do
// not hold everything, a file with all of it.
type output struct {
	screen   *screen
	progress *progress
	spill    *spill

	head, tail []byte
	headDone   bool
	shown      []byte // the end of what a person was shown, with colours
	coloured   bool
	bytes      int64
	lines      int64
}

func newOutput(env Env, callID string) *output {
	o := &output{progress: newProgress(env.Progress), spill: newSpill(env.SpillDir, callID)}
	var live func([]byte)
	if o.progress != nil {
		live = func(text []byte) {
			o.show(text)
			o.progress.add(text)
		}
	}
	o.screen = newScreen(o.add, live)
	return o
}

// Write takes output of the command. It never fails.
func (o *output) Write(p []byte) (int, error) { return o.screen.Write(p) }

// maxScreen is how many bytes of output are kept as a terminal shows it.
const maxScreen = 32 << 10

// show keeps the end of what a person is shown.
func (o *output) show(text []byte) {
	o.coloured = o.coloured || bytes.IndexByte(text, 0x1b) >= 0
	o.shown = append(o.shown, text[max(0, len(text)-2*maxScreen):]...)
	if len(o.shown) > 4*maxScreen {
		o.shown = append(o.shown[:0], o.shown[len(o.shown)-maxScreen:]...)
	}
}

// terminal gives the end of the output with its colours, "" when it has none.
func (o *output) terminal() string {
	if !o.coloured {
		return ""
	}
	return strings.ToValidUTF8(lastLines(string(o.shown), maxScreen, tailLines+headLines), "")
}

// close ends the output. The file with all of it, if there is one, is complete then.
func (o *output) close() {
	o.screen.finish()
	if o.progress != nil {
		o.progress.close()
	}
	o.spill.close()
}

// add takes finished text.
func (o *output) add(text []byte) {
	o.bytes += int64(len(text))
	o.lines += int64(bytes.Count(text, []byte("\n")))
	if o.cut() {
		if !o.spill.open() {
			o.spill.start()
			o.spill.write(o.head)
			o.spill.write(o.tail)
		}
		o.spill.write(text)
	}
	if !o.headDone && len(o.head)+len(text) <= headBytes && o.lines <= headLines {
		o.head = append(o.head, text...)
		return
	}
	o.headDone = true
	o.tail = append(o.tail, text...)
	// Before the cut nothing may be dropped, and it comes before the tail is this long.
	// One byte more than is shown tells lastLines that something is missing.
	if len(o.tail) > 2*(headBytes+tailBytes) {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-tailBytes-1:]...)
	}
}

// cut reports whether the result leaves something out.
func (o *output) cut() bool {
	return o.bytes > headBytes+tailBytes || o.lines > headLines+tailLines
}

// text gives what the model gets, and how many bytes of the whole it leaves out.
func (o *output) text() (text string, omitted int64) {
	if !o.cut() {
		return string(o.head) + string(o.tail), 0
	}
	head, tail := string(o.head), lastLines(string(o.tail), tailBytes, tailLines)
	omitted = o.bytes - int64(len(head)) - int64(len(tail))
	lines := o.lines - int64(strings.Count(head, "\n")) - int64(strings.Count(tail, "\n"))
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return fmt.Sprintf("%s[... %d lines, %d bytes left out; %s ...]\n%s", head, lines, omitted, o.spill.where(), tail), omitted
}

// lastLines gives the end of s, beginning with a whole line if one begins there.
func lastLines(s string, maxBytes, maxLines int) string {
	if len(s) > maxBytes {
		s = s[len(s)-maxBytes:]
		if i := strings.IndexByte(s, '\n'); i >= 0 && i+1 < len(s) {
			s = s[i+1:]
		}
		for s != "" && !utf8.RuneStart(s[0]) {
			s = s[1:]
		}
	}
	for extra := strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1 - maxLines; extra > 0; extra-- {
		s = s[strings.IndexByte(s, '\n')+1:]
	}
	return s
}

// cutEnd gives at most n bytes of the beginning of s, whole characters.
func cutEnd(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)]
}
