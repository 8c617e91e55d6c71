package transcript_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// childDir, when set, makes the test binary a writer: see writer.
const childDir = "TRANSCRIPT_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		writer(dir)
	}
	os.Exit(m.Run())
}

// writer appends a conversation with calls and checkpoints until it is killed, saying the seq of
// each record on standard output once it is written, and waits for a byte on standard input
// before each.
func writer(dir string) {
	l, err := transcript.Open(dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	in := bufio.NewReader(os.Stdin)
	put := func(r transcript.Record) transcript.Record {
		if _, err := in.ReadByte(); err != nil {
			os.Exit(0)
		}
		out, err := l.Append(r)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(out.Seq)
		return out
	}
	for n := 0; ; n++ {
		writeTurn(put, fmt.Sprint("k", l.State().LastSeq))
	}
}

// writeTurn is a turn of two steps, the first with two calls, as ten records of every kind.
func writeTurn(put func(transcript.Record) transcript.Record, id string) {
	put(transcript.Record{Kind: transcript.User, Turn: id, MessageID: id, Message: say(model.User, "do "+id)})
	put(transcript.Record{Kind: transcript.TurnStart, Turn: id})
	step := put(transcript.Record{Kind: transcript.StepStart, Turn: id, Step: 1})
	m := say(model.Assistant, "I'll")
	put(transcript.Record{Kind: transcript.Partial, Turn: id, Step: 1, StepSeq: step.Seq, Message: m})
	m = say(model.Assistant, "I'll look")
	m.Parts = append(m.Parts, model.Part{Kind: model.ToolCall, CallID: "a", Name: "bash", Input: "{}"}, model.Part{Kind: model.ToolCall, CallID: "b", Name: "bash", Input: `{"x`, Open: true})
	put(transcript.Record{Kind: transcript.Partial, Turn: id, Step: 1, StepSeq: step.Seq, Message: m})
	m = say(model.Assistant, "I'll look")
	m.Stop = model.StopTools
	for _, call := range []string{"a", "b", "c"} {
		m.Parts = append(m.Parts, model.Part{Kind: model.ToolCall, CallID: call, Name: "bash", Input: "{}"})
	}
	put(transcript.Record{Kind: transcript.Assistant, Turn: id, Step: 1, StepSeq: step.Seq, Message: m})
	for _, call := range []string{"a", "b", "c"} {
		put(transcript.Record{Kind: transcript.ToolStart, Turn: id, Step: 1, StepSeq: step.Seq, CallID: call, Tool: "bash"})
		put(transcript.Record{Kind: transcript.ToolEnd, Turn: id, Step: 1, StepSeq: step.Seq, CallID: call, Tool: "bash",
			Result: &model.Part{Kind: model.ToolResult, CallID: call, Name: "bash", Parts: []model.Part{{Kind: model.Text, Text: "ok"}}}})
	}
	step = put(transcript.Record{Kind: transcript.StepStart, Turn: id, Step: 2})
	put(transcript.Record{Kind: transcript.Assistant, Turn: id, Step: 2, StepSeq: step.Seq, Message: say(model.Assistant, "done "+id)})
	put(transcript.Record{Kind: transcript.TurnEnd, Turn: id, End: transcript.Done})
}

// turnRecords is how many records writeTurn writes.
const turnRecords = 15

// startWriter starts a writer in a process of its own.
func startWriter(t *testing.T, dir string) (cmd *exec.Cmd, in io.WriteCloser, out *bufio.Scanner) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, in, bufio.NewScanner(stdout)
}

func TestKillAtEachRecordLosesNothingThatWasWritten(t *testing.T) { // O-DATA-01, O-LLM-01
	for n := 1; n <= turnRecords+2; n++ {
		dir := t.TempDir()
		cmd, in, out := startWriter(t, dir)
		for i := 1; i <= n; i++ {
			if _, err := in.Write([]byte{'.'}); err != nil {
				t.Fatal(err)
			}
			if !out.Scan() || out.Text() != strconv.Itoa(i) {
				t.Fatalf("writer said %q", out.Text())
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		l := open(t, dir)
		if st := l.State(); st.LastSeq != uint64(n) || st.Damaged != 0 || st.Torn != "" {
			t.Errorf("killed after record %d: %+v", n, st)
		}
		checkLegal(t, l)
		writeTurn(func(r transcript.Record) transcript.Record { return add(t, l, r) }, "next")
		checkLegal(t, l)
		_ = l.Close()
	}
}

func TestKillAtAnyMomentLosesNothingThatWasSaid(t *testing.T) { // O-DATA-01
	dir := t.TempDir()
	said := uint64(0)
	for range 25 {
		cmd, in, out := startWriter(t, dir)
		go func() { _, _ = in.Write([]byte(strings.Repeat(".", 4000))) }()
		begun := sync.OnceFunc(func() {
			time.AfterFunc(time.Duration(rand.IntN(20000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		})
		for out.Scan() {
			begun()
			n, err := strconv.ParseUint(out.Text(), 10, 64)
			if err != nil {
				t.Fatalf("writer said %q", out.Text())
			}
			said = n
		}
		_ = cmd.Wait()
		r, err := transcript.OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.State().LastSeq; got < said {
			t.Fatalf("last seq %d, but the writer said %d", got, said)
		}
		checkLegal(t, r)
		_ = r.Close()
	}
	if said == 0 {
		t.Error("no record was ever written")
	}
}

func TestAReaderSeesOnlyWholeRecordsWhileAnotherProcessWrites(t *testing.T) {
	dir := t.TempDir()
	r, err := transcript.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if st := r.State(); st.LastSeq != 0 {
		t.Errorf("an empty log has seq %d", st.LastSeq)
	}
	_, in, out := startWriter(t, dir)
	const total = 3000
	go func() { _, _ = in.Write([]byte(strings.Repeat(".", total))) }()
	seen := uint64(0)
	for seen < total && out.Scan() {
		recs, err := r.Since(seen)
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range recs {
			if rec.Seq <= seen || rec.Message == nil && rec.Kind == transcript.Assistant {
				t.Fatalf("after %d came %+v", seen, rec)
			}
			seen = rec.Seq
		}
		if st := r.State(); st.Damaged != 0 {
			t.Fatalf("%d damaged", st.Damaged)
		}
	}
	if _, err := r.Append(transcript.Record{Kind: transcript.Note}); err == nil {
		t.Error("a reader could write")
	}
	checkLegal(t, r)
}

// checkLegal fails unless each call in the history that is not open has one result, right after it.
func checkLegal(t *testing.T, l *transcript.Log) {
	t.Helper()
	h, err := l.History()
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range h {
		var calls, results []string
		for _, p := range m.Parts {
			if p.Kind == model.ToolCall && !p.Open {
				calls = append(calls, p.CallID)
			}
			if p.Kind == model.ToolResult && m.Role != model.ToolRole {
				t.Errorf("message %d: a result in a message of %s", i, m.Role)
			}
		}
		if m.Role == model.ToolRole && (i == 0 || h[i-1].Role != model.Assistant) {
			t.Errorf("message %d: results after no call", i)
		}
		if len(calls) == 0 {
			continue
		}
		if i+1 == len(h) || h[i+1].Role != model.ToolRole {
			t.Errorf("message %d: calls without results", i)
			continue
		}
		for _, p := range h[i+1].Parts {
			results = append(results, p.CallID)
		}
		if strings.Join(calls, " ") != strings.Join(results, " ") {
			t.Errorf("message %d: calls %v, results %v", i, calls, results)
		}
	}
}
