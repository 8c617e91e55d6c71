package app_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carrel/agent/model/fakewire"
	"carrel/app"
	"carrel/store"
)

// shot is a picture of that many pixels a side.
func shot(t *testing.T, side int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, side, side))
	img.SetGray(0, 0, color.Gray{Y: uint8(side)})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (h *house) upload(data []byte) app.Uploaded {
	h.t.Helper()
	up, err := h.app.Upload(context.Background(), "shot.png", bytes.NewReader(data))
	if err != nil {
		h.t.Fatal(err)
	}
	return up
}

func TestAMessageCanBeOnlyAPicture(t *testing.T) {
	ctx := context.Background()
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Text: "A square."}))
	_, w := h.desk(app.NewWorkspace{Name: "pictures", Model: "anthropic:claude-sonnet-5-5"})
	up := h.upload(shot(t, 3000))
	if up.Width != 2000 || up.Height != 2000 || up.Mime != "image/png" || up.Size == 0 {
		t.Errorf("%+v", up)
	}
	m := app.SendMessage{Workspace: w.ID, ID: store.NewID(), Files: []app.Upload{{Name: "shot.png", ID: up.ID}}}
	for range 2 { // a host that lost its connection sends again
		if err := h.api.Conversations.Send(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	h.wait("the answer", ended(w.ID, app.Done))
	if n := len(server.Requests()); n != 1 || server.Requests()[0].Messages[0].Images != 1 {
		t.Errorf("%d requests, %+v", n, server.Requests()[0].Messages)
	}
	entry := h.snapshot(w).Entries[0]
	if entry.Text != "" || len(entry.Files) != 1 || entry.Files[0].Name != "shot.png" || entry.Files[0].Mime != "image/png" {
		t.Fatalf("%+v", entry)
	}
	data, mime, err := h.app.Picture(ctx, w.ID, entry.Files[0].Blob)
	if err != nil || mime != "image/png" || len(data) != up.Size {
		t.Errorf("%d bytes of %s, %v", len(data), mime, err)
	}
}

func TestFilesOfAMessageAreKeptReplacedAndRemoved(t *testing.T) {
	ctx := context.Background()
	release := make(chan struct{})
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes.", Block: release}))
	_, w := h.desk(app.NewWorkspace{Name: "pictures", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "First")
	h.wait("the first turn", ended(w.ID, app.Streaming))
	id, one, two := store.NewID(), h.upload(shot(t, 10)), h.upload(shot(t, 11))
	if err := h.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, Text: "Look", ID: id, Dispatch: "turn",
		Files: []app.Upload{{ID: one.ID}}}); err != nil {
		t.Fatal(err)
	}
	edit := func(c app.EditQueued) string {
		c.Workspace, c.ID = w.ID, id
		return code(h.api.Conversations.EditQueued(ctx, c))
	}
	queued := func() []app.FileRef { return h.snapshot(w).Status.Queue[0].Files }
	blob := queued()[0].Blob
	if got := edit(app.EditQueued{Files: []app.Upload{{Blob: blob}, {ID: two.ID}}}); got != "" || len(queued()) != 2 || queued()[0].Blob != blob {
		t.Errorf("%s %+v", got, queued())
	}
	if got := edit(app.EditQueued{Text: text("")}); got != "" {
		t.Errorf("pictures alone: %s", got)
	}
	if got := edit(app.EditQueued{Files: []app.Upload{}}); got != "empty_message" || len(queued()) != 2 {
		t.Errorf("nothing left: %s %+v", got, queued())
	}
	close(release)
	h.wait("both turns", func(e app.Event) bool { return ended(w.ID, app.Done)(e) && len(server.Requests()) == 2 })
	past := func(m app.EditMessage, images int) {
		t.Helper()
		h.forgetEvents()
		entries := h.snapshot(w).Entries
		m.Workspace, m.ID = w.ID, store.NewID()
		for _, e := range entries {
			if e.Kind == app.EntryUser {
				m.Entry = e.ID
			}
		}
		if err := h.api.Conversations.EditMessage(ctx, m); err != nil {
			t.Fatal(err)
		}
		h.wait("the answer", ended(w.ID, app.Done))
		all := server.Requests()
		last := all[len(all)-1].Messages
		if got := last[len(last)-1]; got.Images != images {
			t.Errorf("%d pictures, want %d: %+v", got.Images, images, got)
		}
	}
	past(app.EditMessage{Text: "Look again"}, 2)
	past(app.EditMessage{}, 2)
	past(app.EditMessage{Text: "Only one", Files: []app.Upload{{Blob: blob}}}, 1)
	past(app.EditMessage{Text: "None", Files: []app.Upload{}}, 0)
}

// bomb is a small PNG that claims to be huge.
func bomb(t *testing.T) []byte {
	t.Helper()
	b := shot(t, 1)
	binary.BigEndian.PutUint32(b[16:], 60_000)
	binary.BigEndian.PutUint32(b[20:], 60_000)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

func TestWhatIsNoUsablePictureIsRefusedWhenItIsAttached(t *testing.T) {
	ctx := context.Background()
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	_, w := h.desk(app.NewWorkspace{Name: "pictures", Model: "anthropic:claude-sonnet-5-5"})
	for name, c := range map[string]struct{ data, code string }{
		"a bomb":      {string(bomb(t)), "bad_file"},
		"HTML":        {"<html>no</html>", "bad_file"},
		"nothing":     {"", "bad_file"},
		"HEIC":        {"\x00\x00\x00\x18ftypheic1234", "bad_file"},
		"half of one": {string(shot(t, 500)[:100]), "bad_file"},
		"too much":    {strings.Repeat("x", app.MaxUpload+1), "too_large"},
	} {
		_, err := h.app.Upload(ctx, "x\n.png", strings.NewReader(c.data))
		var told *app.Error
		_ = errors.As(err, &told)
		if code(err) != c.code || told == nil || strings.Contains(told.Message, "\n") {
			t.Errorf("%s uploaded: %v (%s)", name, err, code(err))
		}
		if len(c.data) == 0 {
			continue // no data is no file
		}
		err = h.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, Files: []app.Upload{{Name: "x.png", Data: []byte(c.data)}}})
		if code(err) != c.code {
			t.Errorf("%s sent: %v (%s)", name, err, code(err))
		}
	}
	left, err := os.ReadDir(h.root.Path("uploads"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for name, c := range map[string]struct {
		f    app.Upload
		code string
	}{
		"an old upload":  {app.Upload{ID: store.NewID()}, "upload_gone"},
		"a path":         {app.Upload{ID: "../settings.jsonc"}, "upload_gone"},
		"a strange blob": {app.Upload{Blob: "../../registry.db"}, "not_found"},
		"both":           {app.Upload{ID: "a", Blob: "b"}, "bad_request"},
	} {
		err := h.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, Text: "x", Files: []app.Upload{c.f}})
		if code(err) != c.code {
			t.Errorf("%s: %v (%s)", name, err, code(err))
		}
	}
	if code(h.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, Text: " "})) != "empty_message" || len(server.Requests()) != 0 {
		t.Error("an empty message was sent")
	}
}

func TestUploadsThatNobodySentGo(t *testing.T) {
	h, _ := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	old, fresh := h.upload(shot(t, 10)), h.upload(shot(t, 11))
	dir := h.root.Path("uploads")
	for _, name := range []string{old.ID, ".new-1"} {
		path := filepath.Join(dir, name)
		write(t, path, "x")
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-25*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	h.upload(shot(t, 12))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := os.Stat(filepath.Join(dir, fresh.ID)); err != nil {
		t.Error(err)
	}
	if _, _, err := h.app.Picture(context.Background(), "..", strings.Repeat("0", 64)); err == nil {
		t.Error("a picture from outside")
	}
}

func TestAPictureThatIsDroppedOnTheWindowIsUploaded(t *testing.T) {
	h, _ := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	dir := t.TempDir()
	write(t, filepath.Join(dir, "shot.PNG"), string(shot(t, 10)))
	write(t, filepath.Join(dir, "broken.png"), "no picture")
	write(t, filepath.Join(dir, "notes.txt"), "words")
	paths := []string{dir, filepath.Join(dir, "shot.PNG"), filepath.Join(dir, "broken.png"), filepath.Join(dir, "notes.txt")}
	if err := h.api.Projects.Drop(t.Context(), app.DropFolders{Paths: paths}); err != nil {
		t.Fatal(err)
	}
	var d app.FoldersDropped
	h.wait("what was dropped", func(e app.Event) (ok bool) { d, ok = e.(app.FoldersDropped); return ok })
	if len(d.Projects) != 1 || len(d.Problems) != 2 || len(d.Pictures) != 1 || d.Pictures[0].Name != "shot.PNG" {
		t.Fatalf("%+v", d)
	}
	if data, mime, err := h.app.Waiting(t.Context(), d.Pictures[0].ID); err != nil || mime != "image/png" || len(data) == 0 {
		t.Errorf("%s, %v", mime, err)
	}
}
