//go:build linux

package core

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"carrel/app"
	"carrel/app/attach"
)

// noise is a picture that no format makes small: more than fits into a frame of the wire.
func noise(t *testing.T) []byte {
	t.Helper()
	img, r := image.NewNRGBA(image.Rect(0, 0, 1300, 1300)), rand.New(rand.NewPCG(1, 1))
	for i := range img.Pix {
		img.Pix[i] = uint8(r.Uint32())
	}
	img.Set(0, 0, color.White)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAPictureThatIsLargerThanAFrameGoesThroughTheCore(t *testing.T) {
	p := newPerson(t)
	var project app.Project
	p.call("projects.add", app.AddProject{Path: newRepo(t)}, &project)
	var w app.Workspace
	p.call("workspaces.create", app.NewWorkspace{ProjectID: project.ID, Name: "desk", Model: "demo:demo"}, &w)
	core, err := attach.Find(t.Context(), p.root)
	if err != nil {
		t.Fatal(err)
	}
	do := func(method, path string, body io.Reader) []byte {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, core.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+core.Token)
		r.Close = true
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }() // read to its end
		data, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %s %s, %v", method, path, res.Status, data, err)
		}
		return data
	}
	picture := noise(t)
	if len(picture)*4/3 < 8<<20 {
		t.Fatalf("it has %d bytes", len(picture))
	}
	var up app.Uploaded
	if err := json.Unmarshal(do(http.MethodPost, "/upload?name=noise.png", bytes.NewReader(picture)), &up); err != nil {
		t.Fatal(err)
	}
	p.client.Join("conversation/" + w.ID)
	p.call("conversations.send", app.SendMessage{Workspace: w.ID, ID: "m1", Files: []app.Upload{{Name: "noise.png", ID: up.ID}}}, nil)
	e := p.sees(func(e app.Entry) bool { return e.Kind == app.EntryUser })
	if len(e.Files) != 1 || e.Files[0].Blob == "" {
		t.Fatalf("%+v", e)
	}
	shown := do(http.MethodGet, "/blob/"+w.ID+"/"+e.Files[0].Blob, nil)
	if _, kind, err := image.Decode(bytes.NewReader(shown)); err != nil || "image/"+kind != up.Mime || len(shown) != up.Size {
		t.Errorf("%d bytes of %s, %v; uploaded %+v", len(shown), kind, err, up)
	}
	_ = p.client.Close()
}
