package screen_test

import (
	"bytes"
	"fmt"
	"testing"

	"carrel/workspaces/terminal/screen"
)

func numbers(n int) []byte {
	var b bytes.Buffer
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "%d\r\n", i)
	}
	return b.Bytes()
}

func BenchmarkNumbers(b *testing.B) { benchmark(b, numbers(300000)) }

func BenchmarkColouredLines(b *testing.B) {
	benchmark(b, bytes.Repeat([]byte("\x1b[32mok\x1b[0m  some package/name/with/path    0.123s  and text\r\n"), 50000))
}

func BenchmarkWideText(b *testing.B) {
	benchmark(b, bytes.Repeat([]byte("終端の中の日本語の行 ✅ é 👩‍👩‍👧 abc\r\n"), 20000))
}

func benchmark(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		s := screen.New(120, 40, 5000, 1<<20)
		_, _ = s.Write(data)
	}
}
