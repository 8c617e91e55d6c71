package tokens

import (
	"hash/maphash"
	"strings"

	"carrel/agent/model"
	"carrel/agent/picture"
)

// unseen is the size in pixels that a picture is taken to have when its data is not at hand.
const unseen = 1500

// file estimates a file: a picture by its provider's rule, other files by their size.
func (c *Counter) file(id string, p model.Part) int64 {
	if !strings.HasPrefix(p.Mime, "image/") {
		return c.document(p)
	}
	w, h := unseen, unseen
	switch {
	case p.Blob != "":
		key := maphash.String(c.seed, "picture "+p.Blob)
		if n, ok := c.recall(key); ok {
			w, h = int(n>>16), int(n&0xffff)
		} else if fw, fh, err := picture.Size(p.Data); err == nil && fw < 1<<15 && fh < 1<<16 {
			w, h = fw, fh
			c.remember(key, int64(w)<<16|int64(h))
		}
	case len(p.Data) > 0:
		if fw, fh, err := picture.Size(p.Data); err == nil {
			w, h = fw, fh
		}
	}
	return Picture(id, w, h)
}

// document estimates a file that is no picture: text by its length; a PDF by its size, at 1,500
// tokens (text and picture of a page) for each 50 kB.
func (c *Counter) document(p model.Part) int64 {
	if strings.HasPrefix(p.Mime, "text/") || p.Mime == "application/json" {
		return c.bytes(p.Data)
	}
	return 1500 * (1 + int64(len(p.Data))/50_000)
}

// Picture gives about how many tokens a picture of that many pixels has for the model
// "provider:id". Providers that say nothing are taken to count as Anthropic does.
func Picture(id string, width, height int) int64 {
	provider, name, _ := strings.Cut(id, ":")
	w, h := float64(max(width, 1)), float64(max(height, 1))
	switch {
	case provider == "google" || strings.Contains(name, "gemini"):
		return gemini(w, h)
	case provider == "openai" || provider == "azure" || strings.Contains(name, "gpt-"):
		return openai(w, h)
	}
	return anthropic(w, h)
}

// anthropic: 750 pixels a token, after the longer side was made 1568 at most, and 1600 tokens at most.
func anthropic(w, h float64) int64 {
	scale := min(1, 1568/max(w, h))
	return int64(min(w*h*scale*scale/750, 1600)) + 1
}

// openai: squares of 512 after it was made to fit 2048 and its shorter side 768; 170 for each and 85.
func openai(w, h float64) int64 {
	scale := min(1, 2048/max(w, h))
	scale *= min(1, 768/(min(w, h)*scale))
	return 85 + 170*squares(w*scale, 512)*squares(h*scale, 512)
}

// gemini: 258 when both sides are at most 384, else for each square of 768.
func gemini(w, h float64) int64 {
	if max(w, h) <= 384 {
		return 258
	}
	return 258 * squares(w, 768) * squares(h, 768)
}

func squares(pixels, side float64) int64 {
	n := int64(pixels / side)
	if float64(n)*side < pixels {
		n++
	}
	return max(n, 1)
}
