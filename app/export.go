package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"carrel/agent/export"
)

// maxExport is the largest document that a host gets, in bytes; the command writes longer ones.
const maxExport = 32 << 20

// errFull says that a document is larger than maxExport.
var errFull = errors.New("the document is too large")

func (c conversations) Export(ctx context.Context, args ExportConversation) (Exported, error) {
	w, err := c.app.registry.Workspace(ctx, args.Workspace)
	if err != nil {
		return Exported{}, userError(err)
	}
	about := export.About{Workspace: w.ID, Name: w.Name, Title: w.Title, Branch: w.Branch, CreatedAt: w.CreatedAt, At: time.Now()}
	if w.ProjectID != "" {
		p, err := c.app.registry.Project(ctx, w.ProjectID)
		if err != nil {
			return Exported{}, userError(err)
		}
		about.Project = p.Name
	}
	o := export.Options{Format: export.Format(args.Format), Reasoning: args.Reasoning, Left: args.Left}
	mime := map[export.Format]string{export.Markdown: "text/markdown", export.JSON: "application/json"}[o.Format]
	if mime == "" {
		return Exported{}, &Error{Code: "bad_request", Message: fmt.Sprintf("There is no format %s; there are md and json.", short(string(args.Format)))}
	}
	var text limited
	err = export.Write(ctx, &text, c.app.root.Path("sessions", w.ID), about, o)
	if errors.Is(err, errFull) {
		return Exported{}, &Error{Code: "too_large", Message: fmt.Sprintf("The conversation is too long to export here. Use: carrel export %s --output FILE", w.ID)}
	}
	if err != nil {
		return Exported{}, userError(err)
	}
	return Exported{Name: w.Name + "." + string(o.Format), Mime: mime, Text: text.String()}, nil
}

// limited takes maxExport bytes.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxExport {
		return 0, errFull
	}
	return l.Buffer.Write(p)
}
