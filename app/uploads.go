package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/picture"
	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/store"
)

// Limits of files.
const (
	// MaxUpload is the size in bytes of the largest file that can be uploaded.
	MaxUpload = 20 << 20
	// maxUploads is how many go with one message.
	maxUploads = 20
	// uploadLife is how long an upload waits for its message. It is not removed by being sent, so that
	// sending again after a lost connection is harmless.
	uploadLife = 24 * time.Hour
	// uploadSpace is how many bytes may wait, and uploadCount how many files.
	uploadSpace = 1 << 30
	uploadCount = 2000
)

// unfinished begins the names of uploads that are still arriving.
const unfinished = ".new-"

// Upload keeps a picture for messages to come, made fit for models. What it can't be used for is told
// now rather than when the message is sent; name is for that sentence only. It reads at most MaxUpload
// bytes and one more.
func (a *App) Upload(ctx context.Context, name string, body io.Reader) (Uploaded, error) {
	dir := a.root.Path("uploads")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Uploaded{}, userError(fmt.Errorf("keep upload: %w", err))
	}
	if a.sweepUploads(time.Now()) {
		return Uploaded{}, &Error{Code: "too_many_uploads", Message: "Too many pictures were attached and not sent. Send what you have, or try again tomorrow."}
	}
	raw, err := receive(dir, name, body)
	if err != nil {
		return Uploaded{}, err
	}
	if ctx.Err() != nil {
		return Uploaded{}, ctx.Err()
	}
	data, mime, err := picture.Fit(raw, "")
	if err != nil {
		return Uploaded{}, steerError(&turn.FileError{Name: name, Cause: err})
	}
	up := Uploaded{ID: store.NewID(), Mime: mime, Size: len(data)}
	if up.Width, up.Height, err = picture.Size(data); err != nil {
		return Uploaded{}, steerError(&turn.FileError{Name: name, Cause: err})
	}
	if err := store.WriteFile(filepath.Join(dir, up.ID), data, 0o600); err != nil {
		return Uploaded{}, userError(fmt.Errorf("keep upload: %w", err))
	}
	return up, nil
}

// receive reads a body by way of a file, so that many slow ones take no memory.
func receive(dir, name string, body io.Reader) (data []byte, err error) {
	f, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return nil, userError(fmt.Errorf("receive upload: %w", err))
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	n, err := io.Copy(f, io.LimitReader(body, MaxUpload+1))
	switch {
	case err != nil:
		return nil, userError(fmt.Errorf("receive upload: %w", err))
	case n > MaxUpload:
		return nil, tooLarge(name)
	}
	if data, err = os.ReadFile(f.Name()); err != nil {
		return nil, userError(fmt.Errorf("receive upload: %w", err))
	}
	return data, nil
}

func tooLarge(name string) error {
	return &Error{Code: "too_large", Message: fmt.Sprintf("%s is larger than %d MiB.", called(name), MaxUpload>>20)}
}

func tooManyFiles() error {
	return &Error{Code: "too_large", Message: fmt.Sprintf("A message takes at most %d files.", maxUploads)}
}

// called is what a person is told that a file is called.
func called(name string) string {
	if name = label(name); name == "" {
		return "The file"
	}
	return name
}

// sweepUploads removes uploads that waited for too long, and reports whether there is no room for more.
func (a *App) sweepUploads(now time.Time) (full bool) {
	entries, err := os.ReadDir(a.root.Path("uploads"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.logger.Warn("sweep uploads", "err", err)
	}
	var size int64
	count := 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // it was removed meanwhile
		}
		if now.Sub(info.ModTime()) < uploadLife {
			size += info.Size()
			count++
			continue
		}
		if err := os.Remove(a.root.Path("uploads", e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.logger.Warn("remove an old upload", "err", err)
		}
	}
	return size >= uploadSpace || count >= uploadCount
}

// files makes the parts of a message's files; nil stays nil. What they are is looked at when they are
// kept.
func (a *App) files(workspace string, in []Upload) ([]model.Part, error) {
	if in == nil {
		return nil, nil
	}
	if len(in) > maxUploads {
		return nil, tooManyFiles()
	}
	out := make([]model.Part, 0, len(in))
	for _, f := range in {
		data, err := a.file(workspace, f)
		if err != nil {
			return nil, err
		}
		out = append(out, model.Part{Kind: model.File, Name: label(f.Name), Data: data})
	}
	return out, nil
}

// file reads one of a message's files.
func (a *App) file(workspace string, f Upload) ([]byte, error) {
	switch {
	case f.ID != "" && f.Blob == "" && len(f.Data) == 0:
		return a.uploaded(f)
	case f.Blob != "" && f.ID == "" && len(f.Data) == 0:
		if a.root.SessionOf(workspace) == "" {
			return nil, userError(fmt.Errorf("attach %q: %w", f.Blob, transcript.ErrNoBlob))
		}
		data, err := transcript.ReadBlob(a.root.Path("sessions", workspace), f.Blob)
		if errors.Is(err, transcript.ErrNoBlob) {
			return nil, &Error{Code: "not_found", Cause: err, Message: called(f.Name) + " is not in this workspace any more. Attach it again."}
		}
		return data, userError(err)
	case f.ID != "" || f.Blob != "":
		return nil, &Error{Code: "bad_request", Message: "A file is an upload, a blob or data, only one of them."}
	case len(f.Data) > MaxUpload:
		return nil, tooLarge(f.Name)
	}
	return f.Data, nil
}

func (a *App) uploaded(f Upload) ([]byte, error) {
	gone := &Error{Code: "upload_gone", Message: called(f.Name) + " was attached too long ago. Attach it again."}
	if strings.Trim(f.ID, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		return nil, gone
	}
	data, err := os.ReadFile(a.root.Path("uploads", f.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, gone
	}
	if err != nil {
		return nil, userError(fmt.Errorf("read upload: %w", err))
	}
	return data, nil
}

// Waiting gives a picture that was uploaded, and its media type.
func (a *App) Waiting(_ context.Context, id string) (data []byte, mime string, err error) {
	if data, err = a.uploaded(Upload{ID: id}); err != nil {
		return nil, "", err
	}
	mime, err = picture.Kind(data)
	return data, mime, err
}

// Picture gives a picture that a message of a workspace has, and its media type.
func (a *App) Picture(_ context.Context, workspace, blob string) (data []byte, mime string, err error) {
	if a.root.SessionOf(workspace) == "" {
		return nil, "", fmt.Errorf("picture of %q: %w", workspace, transcript.ErrNoBlob)
	}
	if data, err = transcript.ReadBlob(a.root.Path("sessions", workspace), blob); err != nil {
		return nil, "", err
	}
	mime, err = picture.Kind(data) // a log has other blobs too
	return data, mime, err
}
