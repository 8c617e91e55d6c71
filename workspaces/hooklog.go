package workspaces

import (
	"fmt"
	"os"
	"sync"
	"unicode/utf8"
)

// hookLog writes a hook's output to a file of at most maxLog bytes and passes it on, in whole UTF-8
// characters. A log that cannot be written loses the file, not the hook.
type hookLog struct {
	mu     sync.Mutex
	file   *os.File // nil when it could not be opened or is closed
	left   int
	tail   []byte // the beginning of a character whose end has not come
	onText func(string)
}

func openLog(path string, onText func(string)) *hookLog {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		f = nil
	}
	return &hookLog{file: f, left: maxLog, onText: onText}
}

func (l *hookLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(p)
	return len(p), nil
}

func (l *hookLog) add(p []byte) {
	if l.left == 0 {
		return
	}
	if len(p) > l.left {
		p = p[:l.left]
	}
	l.left -= len(p)
	l.put(p)
	if l.left == 0 {
		l.put(fmt.Appendf(nil, "\ncarrel: the rest is left out, %d KiB are kept\n", maxLog>>10))
	}
}

func (l *hookLog) put(p []byte) {
	if l.file != nil {
		if _, err := l.file.Write(p); err != nil {
			_ = l.file.Close()
			l.file = nil
		}
	}
	if l.onText == nil {
		return
	}
	text := append(l.tail, p...)
	whole := len(text) - unfinished(text)
	l.tail = append([]byte(nil), text[whole:]...)
	if whole > 0 {
		l.onText(string(text[:whole]))
	}
}

// unfinished is the number of bytes at the end of text that begin a character without ending it.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// note adds a line of our own, also to a log that is full.
func (l *hookLog) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(fmt.Appendf(nil, "carrel: "+format+"\n", args...))
}

func (l *hookLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close() // a log: what is lost is lost
		l.file = nil
	}
	l.left = 0
}
