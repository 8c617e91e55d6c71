package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"carrel/app"
)

func TestGrowthIsMergedWithinATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub("core", nil)
		q := newQueue(maxQueue)
		h.attach(q, &hello{Join: []string{"conversation/w"}})
		grow := func(rev uint64, entry string, at int, text string) {
			h.publish(app.EntryGrew{Workspace: "w", Rev: rev, Entry: entry, Field: "text", At: at, Text: text})
		}
		grow(1, "a", 0, "1") // at once
		grow(2, "a", 1, "2")
		grow(3, "b", 0, "\U0001F600")
		grow(4, "a", 2, "3")
		grow(5, "b", 2, "!") // an emoji is two units
		if got := popAll(q); len(got) != 1 {
			t.Fatalf("before the tick: %q", got)
		}
		time.Sleep(mergeTick)
		synctest.Wait()
		want := []string{
			`{"seq":2,"event":"entry.grew","data":{"workspace":"w","rev":4,"entry":"a","field":"text","at":1,"text":"23"}}`,
			"{\"seq\":3,\"event\":\"entry.grew\",\"data\":{\"workspace\":\"w\",\"rev\":5,\"entry\":\"b\",\"field\":\"text\",\"at\":0,\"text\":\"\U0001F600!\"}}",
		}
		got := popAll(q)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after the tick: %q", got)
		}
		grow(6, "a", 3, "4")
		h.publish(app.EntriesRemoved{Workspace: "w", Rev: 7}) // flushes what waits before it
		if got := popAll(q); len(got) != 2 || !strings.Contains(got[0], `"text":"4"`) {
			t.Errorf("an event overtook growth: %q", got)
		}
		h.close()
	})
}

func popAll(q *queue) []string {
	var all []string
	for {
		m, ok := q.pop()
		if !ok {
			return all
		}
		var several struct{ Events []json.RawMessage }
		if err := json.Unmarshal(m.data, &several); err != nil || len(several.Events) == 0 {
			several.Events = []json.RawMessage{m.data}
		}
		for _, data := range several.Events {
			all = append(all, string(data))
		}
	}
}

func TestEventsThatWaitShareAFrame(t *testing.T) {
	q := newQueue(maxQueue)
	id := strings.Repeat("x", maxBatch/4)
	for seq := range uint64(6) {
		q.pushEvent(plainEvent(seq+1, app.ProjectRemoved{ID: id}))
	}
	var held []int
	for m, ok := q.pop(); ok; m, ok = q.pop() {
		var f outbound
		if err := json.Unmarshal(m.data, &f); err != nil || len(m.data) > maxBatch {
			t.Fatalf("%d bytes, %v", len(m.data), err)
		}
		held = append(held, len(f.Events))
	}
	if fmt.Sprint(held) != "[3 3]" {
		t.Errorf("events in each frame: %v", held)
	}
	q.pushEvent(plainEvent(7, app.ProjectRemoved{ID: strings.Repeat("x", 2*maxBatch)}))
	q.pushEvent(plainEvent(8, app.ProjectRemoved{ID: "y"}))
	if got := popAll(q); len(got) != 2 || q.bytes != 0 {
		t.Errorf("%d frames, %d bytes left", len(got), q.bytes)
	}
}

func grewEvent(seq uint64, entry string, at int, text string) *event {
	ev := app.EntryGrew{Workspace: "w", Rev: seq, Entry: entry, Field: "text", At: at, Text: text}
	data, _ := encodeEvent(seq, ev)
	key, _ := growKeyOf(ev)
	return &event{seq: seq, topic: ev.Topic(), data: data, grows: ev, key: key}
}

func plainEvent(seq uint64, ev app.Event) *event {
	data, _ := encodeEvent(seq, ev)
	return &event{seq: seq, topic: ev.Topic(), data: data}
}

func TestAHostsQueueMergesGrowthButNotAcrossAChange(t *testing.T) {
	q := newQueue(maxQueue)
	q.pushEvent(grewEvent(1, "a", 0, "1"))
	q.pushEvent(grewEvent(2, "b", 0, "x"))
	q.pushEvent(grewEvent(3, "a", 1, "2"))
	q.pushEvent(plainEvent(4, app.EntriesRemoved{Workspace: "w"}))
	q.pushEvent(grewEvent(5, "a", 0, "3"))
	q.pushEvent(plainEvent(6, app.ProjectRemoved{ID: "p"})) // of no topic: no barrier
	q.pushEvent(grewEvent(7, "a", 1, "4"))
	q.pushEvent(grewEvent(8, "a", 9, "gap"))
	var got []string
	for _, s := range popAll(q) {
		var f outbound
		if err := json.Unmarshal([]byte(s), &f); err != nil {
			t.Fatal(err)
		}
		var g app.EntryGrew
		_ = json.Unmarshal(f.Data, &g)
		got = append(got, fmt.Sprint(f.Seq, g.Entry, g.Text))
	}
	want := []string{"2bx", "3a12", "4", "6", "7a34", "8agap"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if q.bytes != 0 || q.dead != 0 || len(q.growing) != 0 {
		t.Errorf("left over: %d bytes, %d dead, %d growing", q.bytes, q.dead, len(q.growing))
	}
}

func TestALongMergeCostsNoMemory(t *testing.T) {
	q := newQueue(maxQueue)
	at := 0
	for i := range 20000 {
		q.pushEvent(grewEvent(uint64(i+1), "ab"[i%2:i%2+1], at/2, "x"))
		at++
	}
	if len(q.events) > 200 {
		t.Errorf("%d elements wait for two texts", len(q.events))
	}
	if got := popAll(q); len(got) != 2 {
		t.Errorf("%d frames", len(got))
	}
}

func TestRepliesOvertakeEventsAndEventsOvertakeData(t *testing.T) {
	q := newQueue(maxQueue)
	q.pushStream([]byte("data"))
	q.pushEvent(plainEvent(1, app.ProjectRemoved{ID: "p"}))
	q.pushControl(message{kind: websocket.MessageText, data: []byte("reply")})
	got := popAll(q)
	if len(got) != 3 || got[0] != "reply" || got[2] != "data" {
		t.Errorf("order %q", got)
	}
}
