package picture

import (
	"bytes"
	"fmt"
	"image/color"
	"strings"
	"unicode/utf8"
)

// The kinds of picture that can be read.
const (
	kindPNG  = "image/png"
	kindJPEG = "image/jpeg"
	kindGIF  = "image/gif"
	kindWebP = "image/webp"
)

// sniff tells a picture's kind by its first bytes.
func sniff(data []byte, mime string) (string, error) {
	if brand := isoBrand(data); brand != "" {
		return "", fmt.Errorf("%w: it is %s; save it as JPEG or PNG", ErrUnsupported, brand)
	}
	found := content(data)
	switch found {
	case kindPNG, kindJPEG, kindGIF, kindWebP:
		return found, nil
	}
	if strings.HasPrefix(found, "image/") {
		return "", fmt.Errorf("%w: it is %s; save it as JPEG or PNG", ErrUnsupported, found)
	}
	if strings.HasPrefix(mime, "image/") && len(mime) < 64 {
		return "", fmt.Errorf("%w: it is called %s but holds %s", ErrNoPicture, mime, found)
	}
	return "", fmt.Errorf("%w: it holds %s", ErrNoPicture, found)
}

// content names what data begins like. The host's sniffer is part of its HTTP, which the agent does
// not know.
func content(data []byte) string {
	for _, m := range []struct{ head, kind string }{
		{"\x89PNG\r\n\x1a\n", kindPNG}, {"\xff\xd8\xff", kindJPEG}, {"GIF87a", kindGIF}, {"GIF89a", kindGIF},
		{"BM", "image/bmp"}, {"II*\x00", "image/tiff"}, {"MM\x00*", "image/tiff"}, {"\x00\x00\x01\x00", "image/x-icon"},
		{"%PDF-", "application/pdf"}, {"PK\x03\x04", "application/zip"},
	} {
		if bytes.HasPrefix(data, []byte(m.head)) {
			return m.kind
		}
	}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return kindWebP
	}
	head := data[:min(len(data), 1024)]
	text := bytes.ToLower(bytes.TrimSpace(head))
	switch {
	case bytes.HasPrefix(text, []byte("<!doctype html")), bytes.HasPrefix(text, []byte("<html")):
		return "text/html"
	case bytes.Contains(text, []byte("<svg")):
		return "image/svg+xml"
	case bytes.IndexByte(head, 0) >= 0 || len(head) == len(data) && !utf8.Valid(head):
		return "application/octet-stream"
	}
	return "text/plain"
}

// isoBrand tells the pictures in ISO base media files, "" for anything else.
func isoBrand(data []byte) string {
	if len(data) < 12 || string(data[4:8]) != "ftyp" {
		return ""
	}
	switch string(data[8:12]) {
	case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1":
		return "image/heic"
	case "avif", "avis":
		return "image/avif"
	}
	return ""
}

// bytesPer is how many bytes a pixel takes once it is unpacked.
func bytesPer(m color.Model) int {
	switch m {
	case color.GrayModel, color.AlphaModel:
		return 1
	case color.Gray16Model, color.Alpha16Model:
		return 2
	case color.YCbCrModel:
		return 3
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	if _, ok := m.(color.Palette); ok {
		return 1
	}
	return 4
}
