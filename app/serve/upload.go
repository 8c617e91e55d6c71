package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"carrel/app"
)

// UploadFunc keeps a file for messages to come. It reads at most app.MaxUpload bytes and one more.
type UploadFunc func(ctx context.Context, name string, body io.Reader) (app.Uploaded, error)

const (
	uploadPath  = "/upload"
	uploadsAt   = 8                // how many arrive at a time
	uploadStall = 30 * time.Second // without a byte
	uploadTime  = 10 * time.Minute // for a whole one
	answerTime  = 60 * time.Second // from its last byte to the answer
)

// uploads takes files by HTTP, since a frame of the socket is too small for a picture.
type uploads struct {
	keep  UploadFunc
	log   *slog.Logger
	room  chan struct{}
	stall time.Duration // how long a file may bring nothing
}

func newUploads(keep UploadFunc, log *slog.Logger) *uploads {
	return &uploads{keep, log, make(chan struct{}, uploadsAt), uploadStall}
}

// ServeHTTP serves POST /upload?name=NAME, whose body is the file.
func (u *uploads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case u.room <- struct{}{}:
		defer func() { <-u.room }()
	default:
		w.Header().Set("Retry-After", "1")
		u.refuse(w, &app.Error{Code: "busy", Message: "Too many files arrive at once. Try again in a moment."})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), uploadTime)
	defer cancel()
	control := http.NewResponseController(w)
	body := &arriving{ended: ctx.Err, from: http.MaxBytesReader(w, r.Body, app.MaxUpload+1), control: control, stall: u.stall}
	up, err := u.keep(ctx, r.URL.Query().Get("name"), body)
	_ = control.SetWriteDeadline(time.Now().Add(answerTime)) // else the answer to a slow upload is lost
	if err != nil {
		u.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(up)
}

// waiting serves GET /upload/{id}: a draft shows its pictures again after a reload.
func (s *Server) waiting(w http.ResponseWriter, r *http.Request) {
	data, mime, err := s.o.Waiting(r.Context(), r.PathValue("id"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	sendFile(w, data, mime)
}

// arriving reads a body that may be slow but must not stall.
type arriving struct {
	ended   func() error // why to stop
	from    io.Reader
	control *http.ResponseController
	stall   time.Duration
}

func (a *arriving) Read(p []byte) (int, error) {
	if err := a.ended(); err != nil {
		return 0, err
	}
	if err := a.control.SetReadDeadline(time.Now().Add(a.stall)); err != nil {
		return 0, err
	}
	return a.from.Read(p)
}

// refuse answers with a code and a sentence for people.
func (u *uploads) refuse(w http.ResponseWriter, err error) {
	var told *app.Error
	if !errors.As(err, &told) {
		u.log.Warn("an upload failed", "error", err)
		told = &app.Error{Code: "internal", Message: "The file did not arrive. Attach it again."}
	}
	status := http.StatusBadRequest
	switch told.Code {
	case "too_large":
		status = http.StatusRequestEntityTooLarge
	case "busy":
		status = http.StatusTooManyRequests
	case "too_many_uploads", "disk_full", "read_only":
		status = http.StatusInsufficientStorage
	case "internal":
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"code": told.Code, "message": told.Message})
}
