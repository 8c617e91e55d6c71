package wire

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // to tell its size in pixels
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"net/http"

	"carrel/agent/model"
)

// What providers take at most: an image of 5 MiB in base64, of 8000 pixels a side; a PDF of 20 MiB
// and a text of 1 MiB leave room for the rest of a request.
const (
	MaxImage     = 5 << 20 / 4 * 3 // bytes
	MaxImageSide = 8000            // pixels
	MaxPDF       = 20 << 20        // bytes
	MaxPlain     = 1 << 20         // bytes
)

// isImage tells the images that every provider takes.
func isImage(p model.Part) bool {
	if p.Kind != model.File {
		return false
	}
	switch p.Mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// flaw says why an image would be refused, "" when it would not. Images are made to fit when they
// are attached; this holds for those that were not.
func flaw(p model.Part) string {
	if len(p.Data) > MaxImage {
		return fmt.Sprintf("too large to be shown, %.1f MiB", float64(len(p.Data))/(1<<20))
	}
	if http.DetectContentType(p.Data) != p.Mime {
		return "not shown, since it is no " + p.Mime
	}
	if p.Mime == "image/webp" {
		return ""
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(p.Data))
	switch {
	case err != nil:
		return "not shown, since it is damaged"
	case c.Width > MaxImageSide || c.Height > MaxImageSide:
		return fmt.Sprintf("too large to be shown, %d x %d pixels", c.Width, c.Height)
	}
	return ""
}
