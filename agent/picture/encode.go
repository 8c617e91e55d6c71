package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
)

// encode writes a picture so that it is at most MaxBytes: photographs as JPEG, others as PNG where
// that is small enough. Quality goes first, then size.
func encode(img *image.RGBA, kind string) ([]byte, string, error) {
	var b bytes.Buffer
	if kind != kindJPEG {
		if err := (&png.Encoder{CompressionLevel: png.DefaultCompression}).Encode(&b, img); err != nil {
			return nil, "", fmt.Errorf("write PNG: %w", err)
		}
		if b.Len() <= MaxBytes {
			return b.Bytes(), kindPNG, nil
		}
	}
	flat := onWhite(img)
	for side := MaxSide; side > 1; side = side * 3 / 4 {
		for _, quality := range []int{88, 75, 60} {
			b.Reset()
			if err := jpeg.Encode(&b, flat, &jpeg.Options{Quality: quality}); err != nil {
				return nil, "", fmt.Errorf("write JPEG: %w", err)
			}
			if b.Len() <= MaxBytes {
				return b.Bytes(), kindJPEG, nil
			}
		}
		flat = shrink(flat, side*3/4)
	}
	return nil, "", ErrTooLarge // a JPEG of one pixel is small, so this is not reached
}

// onWhite gives the picture without transparency, which JPEG does not have.
func onWhite(img *image.RGBA) *image.RGBA {
	if img.Opaque() {
		return img
	}
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), img, image.Point{}, draw.Over)
	return out
}
