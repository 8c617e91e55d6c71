package picture

import (
	"encoding/binary"
	"image"
)

// segments calls visit for each segment before a JPEG's pixels, until it says that it has enough.
func segments(data []byte, visit func(marker byte, body []byte) (enough bool)) {
	for at := 2; at+4 <= len(data) && data[at] == 0xff; {
		marker, size := data[at+1], int(binary.BigEndian.Uint16(data[at+2:]))
		if marker == 0xda || size < 2 || at+2+size > len(data) || visit(marker, data[at+4:at+2+size]) {
			return
		}
		at += 2 + size
	}
}

// progressive reports whether a JPEG comes in several passes, for which all of it has to be kept.
func progressive(data []byte) bool {
	found := false
	segments(data, func(marker byte, _ []byte) bool {
		found = found || marker == 0xc2
		return found
	})
	return found
}

// orientation gives the Exif orientation of a JPEG, from 1 to 8; 1 is upright. Writing a picture
// anew loses the mark, so the pixels have to be turned.
func orientation(data []byte, kind string) int {
	turn := 1
	if kind != kindJPEG {
		return turn
	}
	segments(data, func(marker byte, body []byte) bool {
		exif := marker == 0xe1 && len(body) > 14 && string(body[:6]) == "Exif\x00\x00"
		if exif {
			turn = tiffOrientation(body[6:])
		}
		return exif
	})
	return turn
}

func tiffOrientation(b []byte) int {
	var order binary.ByteOrder = binary.BigEndian
	if string(b[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(b[4:]))
	if at < 8 || at+2 > int64(len(b)) {
		return 1
	}
	count := int64(order.Uint16(b[at:]))
	for i := range count {
		field := at + 2 + 12*i
		if field+12 > int64(len(b)) {
			break
		}
		if order.Uint16(b[field:]) == 0x0112 {
			if v := int(order.Uint16(b[field+8:])); v >= 1 && v <= 8 {
				return v
			}
			break
		}
	}
	return 1
}

// rotate turns a picture upright.
func rotate(img *image.RGBA, orientation int) *image.RGBA {
	if orientation <= 1 {
		return img
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	ow, oh := w, h
	if orientation >= 5 {
		ow, oh = h, w
	}
	out := image.NewRGBA(image.Rect(0, 0, ow, oh))
	for y := range oh {
		for x := range ow {
			sx, sy := x, y
			switch orientation {
			case 2:
				sx = w - 1 - x
			case 3:
				sx, sy = w-1-x, h-1-y
			case 4:
				sy = h - 1 - y
			case 5:
				sx, sy = y, x
			case 6:
				sx, sy = y, h-1-x
			case 7:
				sx, sy = w-1-y, h-1-x
			case 8:
				sx, sy = w-1-y, x
			}
			copy(out.Pix[out.PixOffset(x, y):][:4], img.Pix[img.PixOffset(sx, sy):][:4])
		}
	}
	return out
}
