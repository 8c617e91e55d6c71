package serve

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// BlobFunc reads a workspace's blob.
type BlobFunc func(ctx context.Context, workspace, hash string) (data []byte, mime string, err error)

// blobLife is how long a signed address works. An image loads within seconds.
const blobLife = 5 * time.Minute

// blobs serves blobs to who shows the token, and at addresses that are signed for a few minutes, because
// an image sends no header that could carry the token.
type blobs struct {
	read BlobFunc
	key  []byte
	now  func() time.Time
}

func newBlobs(read BlobFunc, now func() time.Time) *blobs {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return &blobs{read, key, now}
}

// url returns an address, relative to the page's, that shows one blob for five minutes.
func (b *blobs) url(workspace, hash string) string {
	until := strconv.FormatInt(b.now().Add(blobLife).Unix(), 10)
	q := url.Values{"until": {until}, "sig": {b.sign(workspace, hash, until)}}
	return "/blob/" + url.PathEscape(workspace) + "/" + url.PathEscape(hash) + "?" + q.Encode()
}

func (b *blobs) sign(parts ...string) string {
	mac := hmac.New(sha256.New, b.key)
	mac.Write([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// ServeHTTP serves GET /blob/{workspace}/{hash} with a signature.
func (b *blobs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	workspace, hash := r.PathValue("workspace"), r.PathValue("hash")
	until := r.URL.Query().Get("until")
	seconds, err := strconv.ParseInt(until, 10, 64)
	signed := hmac.Equal([]byte(b.sign(workspace, hash, until)), []byte(r.URL.Query().Get("sig")))
	if err != nil || !signed || b.now().After(time.Unix(seconds, 0)) {
		http.Error(w, "This address has expired.", http.StatusForbidden)
		return
	}
	b.send(w, r)
}

// blob serves a blob by a signed address, or to who shows the token.
func (l *Listener) blob() http.Handler {
	blobs := l.srv.blobs
	byToken := l.authorized(http.HandlerFunc(blobs.send))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("sig") {
			blobs.ServeHTTP(w, r)
			return
		}
		byToken.ServeHTTP(w, r)
	})
}

func (b *blobs) send(w http.ResponseWriter, r *http.Request) {
	data, mime, err := b.read(r.Context(), r.PathValue("workspace"), r.PathValue("hash"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	sendFile(w, data, mime)
}

// sendFile sends what a browser may show but not run.
func sendFile(w http.ResponseWriter, data []byte, mime string) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Type", mime)
	if !shownInline(mime) {
		h.Set("Content-Disposition", "attachment")
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data)
}

// shownInline lists the types that a browser shows without running anything.
func shownInline(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif":
		return true
	default:
		return false
	}
}
