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

var mimes = map[export.Format]string{export.Markdown: "text/markdown", export.JSON: "application/json"} // read only

func (c conversations) Export(ctx context.Context, args ExportConversation) (Exported, error) {
	about, o, err := c.exporting(ctx, args)
	if err != nil {
		return Exported{}, err
	}
	var text limited
	err = export.Write(ctx, &text, c.app.root.Path("sessions", about.Workspace), about, o)
	if errors.Is(err, errFull) {
		return Exported{}, &Error{Code: "too_large", Message: fmt.Sprintf("The conversation is too long to export here. Use: carrel export %s --output FILE", about.Workspace)}
	}
	if err != nil {
		return Exported{}, userError(err)
	}
	return Exported{Name: about.Name + "." + string(o.Format), Mime: mimes[o.Format], Text: text.String()}, nil
}

// exporting is what an export asks for.
func (c conversations) exporting(ctx context.Context, args ExportConversation) (about export.About, o export.Options, err error) {
	o = export.Options{Format: export.Format(args.Format), Reasoning: args.Reasoning, Left: args.Left}
	if mimes[o.Format] == "" {
		return about, o, &Error{Code: "bad_request", Message: fmt.Sprintf("There is no format %s; there are md and json.", short(string(args.Format)))}
	}
	w, err := c.app.registry.Workspace(ctx, args.Workspace)
	if err != nil {
		return about, o, userError(err)
	}
	about = export.About{Workspace: w.ID, Name: w.Name, Title: w.Title, Branch: w.Branch, CreatedAt: w.CreatedAt, At: time.Now()}
	if w.ProjectID != "" {
		p, err := c.app.registry.Project(ctx, w.ProjectID)
		if err != nil {
			return about, o, userError(err)
		}
		about.Project = p.Name
	}
	return about, o, nil
}

// limited takes maxExport bytes.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxExport {
		return 0, errFull
	}
	return l.Buffer.Write(p)
}
