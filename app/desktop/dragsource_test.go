//go:build linux && desktop && window

package desktop

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// dragSource is a program from which folders are dragged, by the XDND protocol, version 5.
type dragSource struct {
	conn   *xgb.Conn
	own    xproto.Window
	target xproto.Window
	data   []byte
	events chan xgb.Event
}

// drop drags folders to the middle of the window and drops them there.
func (s *stage) drop(folders ...string) {
	s.t.Helper()
	id, err := strconv.ParseUint(s.id(), 10, 32)
	if err != nil {
		s.t.Fatal(err)
	}
	var list strings.Builder
	for _, f := range folders {
		list.WriteString((&url.URL{Scheme: "file", Path: f}).String() + "\r\n")
	}
	d := newDragSource(s.t, xproto.Window(id), list.String())
	defer d.conn.Close()
	if err := d.run(); err != nil {
		s.t.Fatal(err)
	}
}

func newDragSource(t *testing.T, target xproto.Window, data string) *dragSource {
	t.Helper()
	conn, err := xgb.NewConn()
	if err != nil {
		t.Fatal(err)
	}
	screen := xproto.Setup(conn).DefaultScreen(conn)
	own, err := xproto.NewWindowId(conn)
	if err != nil {
		t.Fatal(err)
	}
	if err := xproto.CreateWindowChecked(conn, screen.RootDepth, own, screen.Root, 0, 0, 1, 1, 0,
		xproto.WindowClassInputOutput, screen.RootVisual, 0, nil).Check(); err != nil {
		t.Fatal(err)
	}
	d := &dragSource{conn: conn, own: own, target: target, data: []byte(data), events: make(chan xgb.Event)}
	go func() {
		defer close(d.events)
		for {
			ev, err := conn.WaitForEvent()
			if ev == nil && err == nil {
				return
			}
			if ev != nil {
				d.events <- ev
			}
		}
	}()
	return d
}

func (d *dragSource) atom(name string) xproto.Atom {
	reply, err := xproto.InternAtom(d.conn, false, uint16(len(name)), name).Reply()
	if err != nil {
		return xproto.AtomNone
	}
	return reply.Atom
}

func (d *dragSource) send(kind string, data ...uint32) {
	for len(data) < 5 {
		data = append(data, 0)
	}
	ev := xproto.ClientMessageEvent{Format: 32, Window: d.target, Type: d.atom(kind), Data: xproto.ClientMessageDataUnionData32New(data)}
	xproto.SendEvent(d.conn, false, d.target, 0, string(ev.Bytes()))
}

// run enters the target, moves until it accepts, drops, hands over the data when asked and waits
// until the target has finished.
func (d *dragSource) run() error {
	selection, uris := d.atom("XdndSelection"), d.atom("text/uri-list")
	xproto.SetSelectionOwner(d.conn, d.own, selection, xproto.TimeCurrentTime)
	place, err := xproto.TranslateCoordinates(d.conn, d.target, xproto.Setup(d.conn).DefaultScreen(d.conn).Root, 0, 0).Reply()
	if err != nil {
		return err
	}
	size, err := xproto.GetGeometry(d.conn, xproto.Drawable(d.target)).Reply()
	if err != nil {
		return err
	}
	x, y := uint32(place.DstX)+uint32(size.Width)/2, uint32(place.DstY)+uint32(size.Height)/2
	move := func() {
		d.send("XdndPosition", uint32(d.own), 0, x<<16|y, xproto.TimeCurrentTime, uint32(d.atom("XdndActionCopy")))
	}
	d.send("XdndEnter", uint32(d.own), 5<<24, uint32(uris))
	move()
	dropped := false
	deadline := time.After(60 * time.Second)
	for {
		select {
		case ev := <-d.events:
			switch e := ev.(type) {
			case xproto.SelectionRequestEvent:
				d.hand(e)
			case xproto.ClientMessageEvent:
				switch {
				case e.Type == d.atom("XdndFinished"):
					return nil
				case e.Type != d.atom("XdndStatus") || dropped:
				case e.Data.Data32[1]&1 == 1:
					dropped = true
					d.send("XdndDrop", uint32(d.own), 0, xproto.TimeCurrentTime)
				default:
					move()
				}
			}
		case <-deadline:
			return fmt.Errorf("drag: dropped %v, and the window did not finish", dropped)
		}
	}
}

// hand gives the list of folders to who asks for it.
func (d *dragSource) hand(e xproto.SelectionRequestEvent) {
	xproto.ChangeProperty(d.conn, xproto.PropModeReplace, e.Requestor, e.Property, e.Target, 8, uint32(len(d.data)), d.data)
	note := xproto.SelectionNotifyEvent{Time: e.Time, Requestor: e.Requestor, Selection: e.Selection, Target: e.Target, Property: e.Property}
	xproto.SendEvent(d.conn, false, e.Requestor, 0, string(note.Bytes()))
}
