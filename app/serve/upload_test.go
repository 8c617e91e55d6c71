package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"carrel/app"
)

// upload keeps nothing: it answers with what came.
func (f *fixture) upload(_ context.Context, name string, body io.Reader) (app.Uploaded, error) {
	data, err := io.ReadAll(io.LimitReader(body, app.MaxUpload+1))
	switch {
	case err != nil:
		return app.Uploaded{}, err
	case len(data) > app.MaxUpload:
		return app.Uploaded{}, &app.Error{Code: "too_large", Message: "It is too large."}
	case string(data) == "full":
		return app.Uploaded{}, &app.Error{Code: "disk_full", Message: "The disk is full."}
	}
	return app.Uploaded{ID: name, Size: len(data)}, nil
}

// post sends a file as the page does.
func (f *fixture) post(t *testing.T, body []byte, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.URL()+"/upload?name=a%20shot.png", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+f.Token())
	r.Header.Set("Origin", f.URL())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Close = true
	if change != nil {
		change(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

func TestAFileIsUploadedByWhoHasTheToken(t *testing.T) {
	f := start(t, nil)
	file := make([]byte, app.MaxUpload)
	_, _ = rand.Read(file)
	res, text := f.post(t, file, nil)
	var up app.Uploaded
	if err := json.Unmarshal([]byte(text), &up); err != nil || res.StatusCode != http.StatusOK || up.ID != "a shot.png" || up.Size != len(file) {
		t.Errorf("%s: %s, %v", res.Status, text, err)
	}
	for name, c := range map[string]struct {
		status int
		change func(*http.Request)
	}{
		"no token":            {http.StatusUnauthorized, func(r *http.Request) { r.Header.Del("Authorization") }},
		"a wrong token":       {http.StatusUnauthorized, func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }},
		"another site":        {http.StatusForbidden, func(r *http.Request) { r.Header.Set("Origin", "https://evil.test") }},
		"another site's form": {http.StatusForbidden, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		"another name":        {http.StatusForbidden, func(r *http.Request) { r.Host = "evil.test" }},
		"another route":       {http.StatusMethodNotAllowed, func(r *http.Request) { r.URL.Path = "/healthz" }},
	} {
		if res, text := f.post(t, []byte("x"), c.change); res.StatusCode != c.status {
			t.Errorf("%s: %s %s", name, res.Status, text)
		}
	}
}

func TestAnUploadThatIsRefusedSaysWhy(t *testing.T) {
	f := start(t, nil)
	for _, c := range []struct {
		body   string
		status int
		code   string
	}{
		{strings.Repeat("x", app.MaxUpload+1), http.StatusRequestEntityTooLarge, "too_large"},
		{"full", http.StatusInsufficientStorage, "disk_full"},
	} {
		res, text := f.post(t, []byte(c.body), nil)
		var told struct{ Code, Message string }
		if err := json.Unmarshal([]byte(text), &told); err != nil || res.StatusCode != c.status || told.Code != c.code || told.Message == "" {
			t.Errorf("%s %s", res.Status, text)
		}
	}
}

func TestOnlySoManyUploadsArriveAtOnce(t *testing.T) {
	f := start(t, nil)
	for range uploadsAt {
		f.server.uploads.room <- struct{}{}
	}
	if res, text := f.post(t, []byte("x"), nil); res.StatusCode != http.StatusTooManyRequests || !strings.Contains(text, `"busy"`) {
		t.Errorf("%s %s", res.Status, text)
	}
	<-f.server.uploads.room
	if res, text := f.post(t, []byte("x"), nil); res.StatusCode != http.StatusOK {
		t.Errorf("%s %s", res.Status, text)
	}
}

func TestABlobIsShownToWhoHasTheToken(t *testing.T) {
	f := start(t, nil)
	for auth, want := range map[string]int{"": http.StatusUnauthorized, "\nAuthorization: Bearer x": http.StatusUnauthorized, "\nAuthorization: Bearer {token}": http.StatusOK} {
		if res := f.send(t, fmt.Sprintf("GET /blob/w/abc HTTP/1.1\nHost: localhost:{port}%s", auth)); res.StatusCode != want {
			t.Errorf("%q: %s", auth, res.Status)
		}
	}
}

func TestAnUploadIsShownAgainToWhoHasTheToken(t *testing.T) {
	f := start(t, nil)
	for _, c := range []struct {
		path, auth string
		want       int
	}{
		{"/upload/abc", "", http.StatusUnauthorized},
		{"/upload/abc", "\nAuthorization: Bearer {token}", http.StatusOK},
		{"/upload/other", "\nAuthorization: Bearer {token}", http.StatusNotFound},
	} {
		res := f.send(t, fmt.Sprintf("GET %s HTTP/1.1\nHost: localhost:{port}%s", c.path, c.auth))
		if res.StatusCode != c.want || res.StatusCode == http.StatusOK && res.Header.Get("Content-Type") != "image/png" {
			t.Errorf("%+v: %s %v", c, res.Status, res.Header)
		}
	}
}

func TestAnUploadThatStallsIsGivenUp(t *testing.T) {
	f := start(t, nil)
	f.server.uploads.stall = 50 * time.Millisecond
	body, more := io.Pipe()
	defer func() { _ = more.Close() }()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.URL()+"/upload", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+f.Token())
	r.Close = true
	go func() { _, _ = more.Write([]byte("the beginning")) }()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return // the connection was closed before the answer came
	}
	defer func() { _ = res.Body.Close() }()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusInternalServerError || !strings.Contains(string(text), "Attach it again") {
		t.Errorf("%s %s", res.Status, text)
	}
}
