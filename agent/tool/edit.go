package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"carrel/workspaces/runtime"
)

// maxEdit is the largest file that the edit tools change.
const maxEdit = 32 << 20

// edit is one change of one file, as an edit tool plans it.
type edit struct {
	path string
	// plan gives the changes of the text, or an error worded for the model. It sees the text
	// without a byte order mark. It may be asked again when the file changed meanwhile.
	plan func(body string) ([]span, error)
	// once says that the plan means the file as the model saw it last, so that it must not be
	// applied to another one.
	once bool
	// did says what was done, for instance "replaced 2 places in".
	did func(n int) string
}

// run makes the change. Every byte outside the planned spans stays as it is.
func (e edit) run(ctx context.Context, c Call) Result {
	for attempt := 1; ; attempt++ {
		data, err := e.load(ctx, c.Env)
		if err != nil {
			return Fail(explain(ctx, c.Env, e.path, err))
		}
		body, marked := strings.CutPrefix(string(data), bom)
		spans, err := e.plan(body)
		if err == nil {
			spans, err = e.check(body, marked, spans)
		}
		if err != nil {
			return Fail(err.Error())
		}
		after := apply(body, spans)
		out := after
		if marked {
			out = bom + after
		}
		err = c.Env.Runtime.Files().Write(ctx, e.path, []byte(out), runtime.WriteOptions{If: data})
		if errors.Is(err, runtime.ErrChanged) && !e.once && attempt < 3 {
			continue
		}
		if err != nil {
			return Fail(explain(ctx, c.Env, e.path, err))
		}
		return e.report(body, after, spans)
	}
}

// load reads the file. Its content is never nil.
func (e edit) load(ctx context.Context, env Env) ([]byte, error) {
	file, info, err := env.Runtime.Files().Open(ctx, e.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if info.Size() > maxEdit {
		return nil, refusal(fmt.Sprintf("%s has %d bytes; the edit tools take up to %d. Use bash", e.path, info.Size(), maxEdit))
	}
	data, err := io.ReadAll(io.LimitReader(file, maxEdit+1))
	if err != nil {
		return nil, err
	}
	if why := foreign(data[:min(len(data), 8000)], info.Size()); why != "" {
		return nil, refusal(e.path + " " + why)
	}
	return data, nil
}

// check drops empty changes and refuses those that would harm the file.
func (e edit) check(body string, marked bool, spans []span) ([]span, error) {
	if marked && len(spans) > 0 && spans[0].start == 0 {
		spans[0].text = strings.TrimPrefix(spans[0].text, bom)
	}
	spans = slices.DeleteFunc(spans, func(s span) bool { return body[s.start:s.end] == s.text })
	if len(spans) == 0 {
		return nil, errors.New("nothing would change: the new text is the same as the old")
	}
	if utf8.ValidString(body) {
		return spans, nil
	}
	for _, s := range spans {
		if !ascii(s.text) {
			return nil, fmt.Errorf("%s is not valid UTF-8, and the new text has characters outside ASCII: writing them would mix two encodings. Nothing was changed. Use bash with iconv, or write ASCII only", e.path)
		}
	}
	return spans, nil
}

// report shows the model the lines around the change, and the person the difference.
func (e edit) report(body, after string, spans []span) Result {
	detail := diff(body, after, spans)
	lines := splitLines(after)
	first := lineAt(after, spans[0].start)
	shift := 0
	for _, s := range spans {
		shift += len(s.text) - (s.end - s.start)
	}
	end := spans[len(spans)-1]
	last := lineAt(after, end.end+shift)
	text := fmt.Sprintf("%s %s (+%d -%d). It now reads:\n", e.did(len(spans)), e.path, detail.Added, detail.Removed)
	if last-first > 24 {
		text += numbered(lines, first-2, first+9) + "...\n" + numbered(lines, last-9, last+2)
	} else {
		text += numbered(lines, first-2, last+2)
	}
	r := Text(strings.TrimSuffix(text, "\n"))
	r.Detail = detail
	return r
}

// refusal is an error whose text is already worded for the model.
type refusal string

func (r refusal) Error() string { return string(r) }

// explain words an error of the file tree for the model.
func explain(ctx context.Context, env Env, path string, err error) string {
	var said refusal
	switch {
	case errors.As(err, &said):
		return said.Error()
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Sprintf("The path, or a part of it, is longer than any can be: %q...", cutEnd(path, 100))
	case ctx.Err() != nil:
		return "Interrupted; nothing was changed."
	case errors.Is(err, runtime.ErrOutside):
		return outside(ctx, env, path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("There is no file %s (the workspace is %s).", path, env.Runtime.Dir())
	case errors.Is(err, runtime.ErrChanged):
		return fmt.Sprintf("%s changed since it was read: nothing was written. Read it again, then edit.", path)
	case folder(ctx, env, path):
		return fmt.Sprintf("%s is a folder; list it with bash: ls", path)
	}
	return fmt.Sprintf("It failed: %v", err)
}

func folder(ctx context.Context, env Env, path string) bool {
	info, err := env.Runtime.Files().Stat(ctx, path)
	return err == nil && info.IsDir()
}
