package wire

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"carrel/agent/model"
)

// Media says how a part of kind file can be sent.
type Media int

// The ways to send a file.
const (
	Note  Media = iota // not at all: a text says that it is missing
	Image              // as an image
	PDF                // as a document
	Plain              // as text
)

// MediaOf says how to send a file.
func MediaOf(p model.Part) Media {
	switch {
	case len(p.Data) == 0:
		return Note
	case isImage(p):
		if flaw(p) != "" {
			return Note
		}
		return Image
	case p.Mime == "application/pdf":
		if len(p.Data) > MaxPDF || !bytes.HasPrefix(p.Data, []byte("%PDF-")) {
			return Note
		}
		return PDF
	case strings.HasPrefix(p.Mime, "image/") && p.Mime != "image/svg+xml", len(p.Data) > MaxPlain:
		return Note
	case utf8.Valid(p.Data):
		return Plain
	}
	return Note
}

// FileText is the text that stands for a file sent as text or not at all.
func FileText(p model.Part) string {
	name := p.Name
	if name == "" {
		name = p.Mime
	}
	if MediaOf(p) == Plain {
		return "[file " + name + "]\n" + string(p.Data)
	}
	why := "can't be shown to this model"
	switch {
	case isImage(p) && len(p.Data) > 0:
		why = flaw(p)
	case len(p.Data) > MaxPlain:
		why = "too large to be shown"
	}
	return "[file " + name + ": " + why + "]"
}

// imageNote is the text that stands for an image that the provider refused.
func imageNote(p model.Part) string {
	return "[image " + Name(p) + ": left out, since the provider refused it]"
}

// NoOutput stands for a result without content; an empty one is refused by some providers.
const NoOutput = "(no output)"

// ResultText is the text of a result, with the files that can only be sent as text. It is "" when
// there is none.
func ResultText(p model.Part) string {
	var texts []string
	for _, q := range p.Parts {
		switch {
		case q.Kind == model.Text && q.Text != "":
			texts = append(texts, q.Text)
		case q.Kind == model.File && (MediaOf(q) == Plain || MediaOf(q) == Note):
			texts = append(texts, FileText(q))
		}
	}
	return strings.Join(texts, "\n")
}

// Name gives the file's name, or one that fits.
func Name(p model.Part) string {
	if p.Name == "" {
		return "file"
	}
	return p.Name
}

// DataURL is the file as a data: URL.
func DataURL(p model.Part) Bytes {
	return Bytes{Prefix: "data:" + p.Mime + ";base64,", Data: p.Data}
}
