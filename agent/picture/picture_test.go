package picture_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/image/webp"

	"carrel/agent/picture"
)

func asPNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// noise compresses badly.
func noise(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 1))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}

// fits checks what a result promises and gives it unpacked.
func fits(t *testing.T, data []byte, mime string) image.Image {
	t.Helper()
	if len(data) > picture.MaxBytes {
		t.Errorf("%d bytes", len(data))
	}
	var img image.Image
	var err error
	switch mime {
	case "image/png":
		img, err = png.Decode(bytes.NewReader(data))
	case "image/jpeg":
		img, err = jpeg.Decode(bytes.NewReader(data))
	case "image/webp":
		img, err = webp.Decode(bytes.NewReader(data))
	default:
		t.Fatalf("media type %q", mime)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() > picture.MaxSide || b.Dy() > picture.MaxSide || b.Empty() {
		t.Errorf("%v", b)
	}
	return img
}

func TestAPictureThatFitsStaysByteForByte(t *testing.T) {
	for mime, data := range map[string][]byte{
		"image/png": asPNG(t, noise(300, 200)), "image/jpeg": asJPEG(t, noise(2000, 20)), "image/webp": tinyWebP(t),
	} {
		out, got, err := picture.Fit(data, "application/octet-stream")
		if err != nil || got != mime || !bytes.Equal(out, data) {
			t.Errorf("%s: %d bytes of %s, %v", mime, len(out), got, err)
		}
	}
}

func TestALargePictureIsMadeSmaller(t *testing.T) { // O-LLM-03
	var animation bytes.Buffer
	frame := func(c color.Color) *image.Paletted {
		p := image.NewPaletted(image.Rect(0, 0, 50, 30), color.Palette{c, color.White})
		return p
	}
	err := gif.EncodeAll(&animation, &gif.GIF{Image: []*image.Paletted{frame(color.Black), frame(color.White)}, Delay: []int{1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		w, h int
	}{
		"5.8 MB":       {asPNG(t, noise(1400, 1050)), 1400, 1050},
		"9000 x 9000":  {asPNG(t, image.NewGray(image.Rect(0, 0, 9000, 9000))), 2000, 2000},
		"screenshot":   {asPNG(t, image.NewRGBA(image.Rect(0, 0, 2200, 1100))), 2000, 1000},
		"photo":        {asJPEG(t, image.NewYCbCr(image.Rect(0, 0, 3000, 4000), image.YCbCrSubsampleRatio420)), 1500, 2000},
		"hair":         {asPNG(t, image.NewGray(image.Rect(0, 0, 60000, 1))), 2000, 1},
		"animated GIF": {animation.Bytes(), 50, 30},
	} {
		if name == "5.8 MB" && len(c.data) < 4_300_000 {
			t.Fatalf("%d bytes are not large", len(c.data))
		}
		out, mime, err := picture.Fit(c.data, "image/png")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b := fits(t, out, mime).Bounds(); b.Dx() != c.w || b.Dy() != c.h {
			t.Errorf("%s: %v, want %d x %d", name, b, c.w, c.h)
		}
		if again, _, err := picture.Fit(out, mime); err != nil || !bytes.Equal(again, out) {
			t.Errorf("%s: what fits changes again, %v", name, err)
		}
	}
}

func TestWhatIsNoPictureIsRefusedWithAReason(t *testing.T) { // O-LLM-03
	whole := asPNG(t, noise(100, 100))
	for name, c := range map[string]struct {
		data []byte
		want error
		says string
	}{
		"empty":         {nil, picture.ErrEmpty, "empty"},
		"page":          {[]byte("<!DOCTYPE html><html><body>404</body></html>"), picture.ErrNoPicture, "holds text/html"},
		"text":          {[]byte("hello"), picture.ErrNoPicture, "text/plain"},
		"heic":          {[]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), picture.ErrUnsupported, "save it as JPEG"},
		"avif":          {[]byte("\x00\x00\x00\x18ftypavif\x00\x00\x00\x00mif1avif"), picture.ErrUnsupported, "image/avif"},
		"svg":           {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), picture.ErrUnsupported, "svg"},
		"bmp":           {[]byte("BM12345678901234567890"), picture.ErrUnsupported, "image/bmp"},
		"cut":           {whole[:len(whole)/2], picture.ErrDamaged, "image/png"},
		"only a header": {whole[:20], picture.ErrDamaged, "header"},
		"bomb":          {bomb(60000, 60000), picture.ErrTooLarge, "60000 x 60000"},
	} {
		out, mime, err := picture.Fit(c.data, "image/png")
		if !errors.Is(err, c.want) || out != nil || mime != "" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d bytes, %v", name, len(out), err)
		}
	}
}

// bomb is a PNG that says to be that large.
func bomb(w, h uint32) []byte {
	head := []byte("IHDR")
	head = binary.BigEndian.AppendUint32(head, w)
	head = binary.BigEndian.AppendUint32(head, h)
	head = append(head, 8, 6, 0, 0, 0)
	out := []byte("\x89PNG\r\n\x1a\n")
	out = binary.BigEndian.AppendUint32(out, 13)
	out = append(out, head...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(head))
}

func TestABombCostsNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := picture.Fit(bomb(60000, 60000), "image/png"); !errors.Is(err, picture.ErrTooLarge) {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes", n)
	}
}

func TestShrinkingAverages(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 5000, 2500))
	for y := range 2500 {
		for x := range 5000 {
			v := byte(255 * ((x + y) % 2))
			img.SetNRGBA(x, y, color.NRGBA{v, v, v, 255})
		}
	}
	out, mime, err := picture.Fit(asPNG(t, img), "")
	if err != nil {
		t.Fatal(err)
	}
	small := fits(t, out, mime)
	for _, p := range []image.Point{{0, 0}, {999, 500}, {1999, 999}} {
		if r, _, _, a := small.At(p.X, p.Y).RGBA(); r>>8 < 110 || r>>8 > 145 || a>>8 != 255 {
			t.Errorf("%v is %v", p, small.At(p.X, p.Y))
		}
	}
}

func TestATurnedPhotoStaysUpright(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 2400, 1200)) // top left is dark, the rest light
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for y := range 600 {
		for x := range 1200 {
			img.SetRGBA(x, y, color.RGBA{0, 0, 0, 255})
		}
	}
	plain := asJPEG(t, img)
	for orientation, dark := range map[byte]image.Point{1: {0, 0}, 2: {1, 0}, 3: {1, 1}, 4: {0, 1}, 5: {0, 0}, 6: {1, 0}, 7: {1, 1}, 8: {0, 1}} {
		exif := append([]byte("Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), orientation, 0, 0, 0, 0, 0, 0)
		marked := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
		out, mime, err := picture.Fit(append(marked, plain[2:]...), "")
		if err != nil {
			t.Fatal(err)
		}
		got := fits(t, out, mime)
		b := got.Bounds()
		if (orientation >= 5) != (b.Dy() > b.Dx()) {
			t.Errorf("orientation %d gives %v", orientation, b)
		}
		for _, corner := range []image.Point{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
			r, _, _, _ := got.At(b.Dx()/4+corner.X*b.Dx()/2, b.Dy()/4+corner.Y*b.Dy()/2).RGBA()
			if (r < 0x8000) != (corner == dark) {
				t.Errorf("orientation %d: corner %v is %x", orientation, corner, r)
			}
		}
	}
}

// tinyWebP is one pixel.
func tinyWebP(t testing.TB) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzAnyBytesGiveAPictureOrAnError(f *testing.F) {
	f.Add(asPNG(f, noise(3, 3)))
	f.Add(asJPEG(f, noise(9, 9)))
	f.Add(tinyWebP(f))
	f.Add(bomb(9, 9))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, _, err := picture.Size(data); err == nil && len(data) > 1<<16 {
			t.Skip()
		}
		out, mime, err := picture.Fit(data, "")
		if err == nil {
			fits(t, out, mime)
		}
	})
}

func BenchmarkFit(b *testing.B) {
	for name, data := range map[string][]byte{
		"screenshot": asPNG(b, noise(1400, 1050)), "9000x9000": asPNG(b, image.NewNRGBA(image.Rect(0, 0, 9000, 9000))),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, _, err := picture.Fit(data, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
