package jail

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"carrel/sandbox/plan"
)

func ends(t *testing.T) (a, b *Conn) {
	t.Helper()
	x, y, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	if a, err = NewConn(x); err != nil {
		t.Fatal(err)
	}
	if b, err = NewConn(y); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close(); _ = b.Close() })
	return a, b
}

func TestMessagesArriveAsTheyWereSent(t *testing.T) {
	a, b := ends(t)
	long := strings.Repeat("x", 1<<20) // more than a socket holds
	for _, m := range []Message{
		{Kind: Spawn},
		{Kind: Ready, Plan: &plan.Plan{Mounts: []plan.Mount{{Kind: plan.KindRO, Source: "/caf\xe9", Target: "/é"}}, Write: []string{"/\x80"}}},
		{Kind: Run, Run: &Start{Argv: []string{"a", "", "\x00\xff"}, Env: []string{long}}},
		{Kind: Failed, Failure: &Failure{Step: "mount", Object: "/x\xfe", Errno: 2, Text: "no"}},
		{Kind: Ended, Exit: Exit{Signal: 9, Lost: []string{"/a"}}},
	} {
		sent := make(chan error, 1)
		go func() { sent <- a.Send(m) }()
		got, files, err := b.Receive()
		if err := errors.Join(err, <-sent); err != nil || len(files) > 0 {
			t.Fatalf("%s: %v %v", m.Kind, err, files)
		}
		if diff := cmp.Diff(m, got, cmpopts.IgnoreUnexported(plan.Plan{})); diff != "" {
			t.Errorf("%s: %s", m.Kind, diff)
		}
	}
}

func TestDescriptorsComeWithTheirMessage(t *testing.T) {
	a, b := ends(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close(); _ = w.Close() }()
	if err := errors.Join(a.Send(Message{Kind: Run}, int(w.Fd())), a.Send(Message{Kind: Signal})); err != nil {
		t.Fatal(err)
	}
	_, files, err := b.Receive()
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	if flags, err := unix.FcntlInt(uintptr(files[0]), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %d, %v", flags, err)
	}
	if _, err := unix.Write(files[0], []byte("x")); err != nil {
		t.Error(err)
	}
	CloseAll(files)
	if _, files, err := b.Receive(); err != nil || len(files) != 0 {
		t.Errorf("%v %v", files, err)
	}
}

func TestWhatIsNoMessageIsRefused(t *testing.T) {
	for name, frame := range map[string][]byte{
		"a giant":  binary.LittleEndian.AppendUint32(nil, maxFrame+1),
		"no JSON":  append(binary.LittleEndian.AppendUint32(nil, 3), "abc"...),
		"half one": append(binary.LittleEndian.AppendUint32(nil, 100), "{"...),
	} {
		x, y, err := Pair()
		if err != nil {
			t.Fatal(err)
		}
		b, err := NewConn(y)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Write(x, frame); err != nil {
			t.Fatal(err)
		}
		_ = unix.Close(x)
		if _, _, err := b.Receive(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
		_ = b.Close()
	}
	a, b := ends(t)
	_ = a.Close()
	if _, _, err := b.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}
