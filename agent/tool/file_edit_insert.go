package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"carrel/workspaces/runtime"
)

// insert inserts text into a file, or makes a new one.
type insert struct{}

func (insert) Spec() Spec {
	return spec("file_edit_insert", `"path":{"type":"string"},
"content":{"type":"string"},
"insert_after":{"type":"string"},
"insert_before":{"type":"string"}`, "path", "content")
}

func (insert) Run(ctx context.Context, c Call) Result {
	in := read(c.Input)
	a := insertion{path: in.need("path"), text: in.need("content")}
	a.after, _ = in.text("insert_after")
	a.before, _ = in.text("insert_before")
	if a.after != "" && a.before != "" {
		in.fail("give insert_after or insert_before, not both")
	}
	if in.err != nil {
		return Fail(in.err.Error())
	}
	if a.after == "" && a.before == "" {
		if _, err := c.Env.Runtime.Files().Stat(ctx, a.path); errors.Is(err, fs.ErrNotExist) {
			return create(ctx, c, a.path, a.text)
		}
	}
	if a.text == "" {
		return Fail(`"content" is empty: there is nothing to insert`)
	}
	return edit{path: a.path, plan: a.plan, did: func(int) string { return "Inserted into" }}.run(ctx, c)
}

// create makes a new file.
func create(ctx context.Context, c Call, path, text string) Result {
	err := c.Env.Runtime.Files().Write(ctx, path, []byte(text), runtime.WriteOptions{New: true})
	if errors.Is(err, fs.ErrExist) {
		return Fail(path + " was created by someone else meanwhile; nothing was written. Read it first.")
	}
	if err != nil {
		return Fail(explain(ctx, c.Env, path, err))
	}
	r := Text(fmt.Sprintf("Created %s: %d lines, %d bytes.", path, len(splitLines(text)), len(text)))
	r.Detail = diff("", text, []span{{text: text}})
	return r
}

// insertion is what a call asks for. One of the anchors is set, or none.
type insertion struct {
	path, text    string
	after, before string
}

func (a insertion) plan(body string) ([]span, error) {
	v := viewLF(body)
	name, anchor := "insert_after", a.after
	if anchor == "" {
		name, anchor = "insert_before", a.before
	}
	anchor = strings.TrimPrefix(anchor, bom)
	if anchor == "" {
		if body == "" {
			return []span{{text: a.text}}, nil
		}
		return nil, fmt.Errorf("%s exists: give insert_after or insert_before to say where in it", a.path)
	}
	if v.crs != nil || !strings.Contains(v.text, anchor) {
		anchor = toLF(anchor)
	}
	at := findAll(v.text, anchor)
	switch len(at) {
	case 0:
		return nil, fmt.Errorf("%s was not found in %s. %s", name, a.path, nearMiss(v.text, anchor))
	case 1:
	default:
		return nil, fmt.Errorf("%s is in %s %d times (at lines %s): add text around it to make it unique", name, a.path, len(at), linesOf(v.text, at))
	}
	place := at[0]
	if name == "insert_after" {
		place += len(anchor)
	}
	// The anchor's own line ends tell the style.
	text := a.text
	if v.crlf(at[0], at[0]+len(anchor)) {
		text = strings.ReplaceAll(toLF(text), "\n", "\r\n")
	}
	p := v.original(place)
	return []span{{start: p, end: p, text: text}}, nil
}
