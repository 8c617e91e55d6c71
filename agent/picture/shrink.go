package picture

import (
	"image"
	"image/draw"
)

// shrink gives a picture of at most side pixels a side, each the average of those that it stands
// for. It needs one row of the picture beside the result.
func shrink(src image.Image, side int) *image.RGBA {
	b := src.Bounds()
	w, h := b.Dx(), b.Dy()
	if w <= side && h <= side {
		out := image.NewRGBA(image.Rect(0, 0, w, h))
		draw.Draw(out, out.Bounds(), src, b.Min, draw.Src)
		return out
	}
	longest := max(w, h)
	out := image.NewRGBA(image.Rect(0, 0, max(1, w*side/longest), max(1, h*side/longest)))
	ow, oh := out.Bounds().Dx(), out.Bounds().Dy()
	row := image.NewRGBA(image.Rect(0, 0, w, 1))
	wide := make([]float32, 4*ow) // the row at the new width
	sum := make([]float32, 4*ow)  // of the rows of one new row
	cover := newCover(w, ow)
	for y, oy := 0, 0; y < h; y++ {
		draw.Draw(row, row.Bounds(), src, image.Pt(b.Min.X, b.Min.Y+y), draw.Src)
		cover.average(wide, row.Pix)
		// In units of 1/oh of a row, the old row y covers [y*oh, (y+1)*oh), the new one [oy*h, (oy+1)*h).
		for from, to := y*oh, (y+1)*oh; from < to; {
			end := min(to, (oy+1)*h)
			part := float32(end-from) / float32(h)
			for i, v := range wide {
				sum[i] += v * part
			}
			if end == (oy+1)*h {
				put(out.Pix[oy*out.Stride:], sum)
				clear(sum)
				oy++
			}
			from = end
		}
	}
	return out
}

func put(pix []byte, sum []float32) {
	for i, v := range sum {
		pix[i] = byte(min(v+0.5, 255))
	}
}

// cover says, for each old pixel of a row, which new pixels it is part of and how much.
type cover struct {
	first       []int32
	share, rest []float32 // of first, and of the one after it
}

func newCover(w, ow int) cover {
	c := cover{make([]int32, w), make([]float32, w), make([]float32, w)}
	for x := range w {
		from, to := x*ow, (x+1)*ow
		first := from / w
		c.first[x] = int32(first)
		end := min(to, (first+1)*w)
		c.share[x] = float32(end-from) / float32(w)
		c.rest[x] = float32(to-end) / float32(w)
	}
	return c
}

// average writes the row pix at the new width into out.
func (c cover) average(out []float32, pix []byte) {
	clear(out)
	for x, first := range c.first {
		p := pix[4*x : 4*x+4 : 4*x+4]
		o := out[4*first : 4*first+4 : 4*first+4]
		s := c.share[x]
		o[0] += s * float32(p[0])
		o[1] += s * float32(p[1])
		o[2] += s * float32(p[2])
		o[3] += s * float32(p[3])
		if r := c.rest[x]; r > 0 {
			o := out[4*first+4 : 4*first+8]
			for k := range o {
				o[k] += r * float32(p[k])
			}
		}
	}
}
