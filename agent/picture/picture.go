// Package picture makes pictures fit for models before they enter a conversation, since one that a
// provider refuses would be refused again in every later request.
//
// It promises: what Fit returns is a whole JPEG, PNG or WebP of at most MaxSide pixels a side and
// MaxBytes bytes; anything else is an error that says what the bytes are and what a person can do.
// A small file that unpacks to a huge picture is refused before it is unpacked, and at most one
// large picture is in memory at a time.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"sync"

	"golang.org/x/image/webp"
)

const (
	// MaxSide is the longest side in pixels: what every provider takes, also when a request has
	// many pictures.
	MaxSide = 2000
	// MaxBytes is the largest size in bytes: 5 MB in base64, which is what providers count.
	MaxBytes = 3_750_000
	// MaxInput is the largest file that is looked at, in bytes.
	MaxInput = 64 << 20
	// maxUnpacked is the most memory that an unpacked picture may take, in bytes. 9000 x 9000
	// pixels of four bytes fit.
	maxUnpacked = 400 << 20
	// large is from how many bytes on an unpacked picture waits for others to be done.
	large = 4 * MaxSide * MaxSide
)

// The reasons to refuse a picture. They are wrapped in a sentence for people.
var (
	ErrEmpty       = errors.New("the file is empty")
	ErrNoPicture   = errors.New("the file is not a picture")
	ErrUnsupported = errors.New("models can't read this kind of picture")
	ErrTooLarge    = errors.New("the picture is too large")
	ErrDamaged     = errors.New("the picture is damaged")
)

// one lets one large picture at a time into memory, for the whole process: that is what it is for.
var one sync.Mutex

// Fit gives a picture that every model takes, and its media type: the same bytes where they fit
// already, else a smaller or converted picture. An animation becomes its first frame. What the
// bytes are counts, not the media type or the name that came with them; mime is only for the error.
// It wraps ErrEmpty, ErrNoPicture, ErrUnsupported, ErrTooLarge or ErrDamaged.
func Fit(data []byte, mime string) ([]byte, string, error) {
	out, kind, err := fit(data, mime)
	if err != nil {
		return nil, "", fmt.Errorf("fit picture: %w", err)
	}
	return out, kind, nil
}

func fit(data []byte, mime string) ([]byte, string, error) {
	kind, c, err := inspect(data, mime)
	if err != nil {
		return nil, "", err
	}
	if unpacked(data, kind, c) > large {
		one.Lock()
		defer one.Unlock()
	}
	img, err := decode(data, kind)
	if err != nil {
		return nil, "", fmt.Errorf("%w: its %s data can't be read", ErrDamaged, kind)
	}
	turn := orientation(data, kind)
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	if w <= MaxSide && h <= MaxSide && len(data) <= MaxBytes && kind != kindGIF {
		return data, kind, nil
	}
	small := shrink(img, MaxSide)
	img = nil
	small = rotate(small, turn)
	return encode(small, kind)
}

// Size gives the width and height in pixels without unpacking a picture. It wraps the errors of Fit.
func Size(data []byte) (width, height int, err error) {
	_, c, err := inspect(data, "")
	if err != nil {
		return 0, 0, fmt.Errorf("size of picture: %w", err)
	}
	return c.Width, c.Height, nil
}

// Kind gives a picture's media type without unpacking it. It wraps the errors of Fit.
func Kind(data []byte) (string, error) {
	kind, _, err := inspect(data, "")
	if err != nil {
		return "", fmt.Errorf("kind of picture: %w", err)
	}
	return kind, nil
}

// inspect tells what data is, and refuses what must not be unpacked.
func inspect(data []byte, mime string) (string, image.Config, error) {
	var c image.Config
	if len(data) == 0 {
		return "", c, ErrEmpty
	}
	if len(data) > MaxInput {
		return "", c, fmt.Errorf("%w: it has %d MB, at most %d are looked at", ErrTooLarge, len(data)>>20, MaxInput>>20)
	}
	kind, err := sniff(data, mime)
	if err != nil {
		return "", c, err
	}
	r := bytes.NewReader(data)
	switch kind {
	case kindPNG:
		c, err = png.DecodeConfig(r)
	case kindJPEG:
		c, err = jpeg.DecodeConfig(r)
	case kindGIF:
		c, err = gif.DecodeConfig(r)
	case kindWebP:
		c, err = webp.DecodeConfig(r)
	}
	if err != nil || c.Width <= 0 || c.Height <= 0 {
		return "", c, fmt.Errorf("%w: its %s header can't be read", ErrDamaged, kind)
	}
	if unpacked(data, kind, c) > maxUnpacked {
		return "", c, fmt.Errorf("%w: %d x %d pixels; make it smaller first", ErrTooLarge, c.Width, c.Height)
	}
	return kind, c, nil
}

func decode(data []byte, kind string) (image.Image, error) {
	r := bytes.NewReader(data)
	switch kind {
	case kindPNG:
		return png.Decode(r)
	case kindJPEG:
		return jpeg.Decode(r)
	case kindGIF:
		return gif.Decode(r)
	}
	return webp.Decode(r)
}

// unpacked is about how many bytes a picture takes in memory.
func unpacked(data []byte, kind string, c image.Config) int64 {
	per := int64(bytesPer(c.ColorModel))
	if kind == kindJPEG && progressive(data) {
		per *= 5 // with the coefficients of four bytes
	}
	return int64(c.Width) * int64(c.Height) * per
}
