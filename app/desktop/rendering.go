package desktop

import "fmt"

// rendering is how the web view draws.
type rendering string

const (
	drawAuto   rendering = "auto"   // the GPU, if there is one, where the page asks for it
	drawAlways rendering = "always" // the GPU for everything
	drawNever  rendering = "never"  // no GPU
	drawSafe   rendering = "safe"   // no GPU, and frames are handed over through shared memory
)

// safeMemory makes WebKitGTK hand its frames over through shared memory, which works where sharing
// GPU buffers does not. Unlike WEBKIT_DISABLE_DMABUF_RENDERER it takes no part of the renderer away:
// without that part newer versions crash once a page composites layers.
const safeMemory = "WEBKIT_DMABUF_RENDERER_FORCE_SHM"

// rememberRescues is how many times in a row drawing safely must have helped after a blank window
// until it becomes a habit. A window that is killed at once looks the same as a blank one.
const rememberRescues = 2

// choice is how to draw, and why.
type choice struct {
	how   rendering
	asked bool   // by the person: nothing of ours changes it
	hint  string // for the person, "" when there is nothing to say
}

// chooseRendering decides by what the person asked for (CARREL_GPU, then the setting), else by what
// happened to earlier windows and by whether there is a GPU: composing a window's layers with a CPU that
// plays one costs several times what drawing it plainly does.
func chooseRendering(env, setting string, m memory, gpu bool) choice {
	var wrong string
	for _, wish := range []string{env, setting} {
		switch r := rendering(wish); r {
		case drawAuto:
			return choice{how: plainly(gpu)}
		case drawAlways, drawNever:
			return choice{how: r, asked: true}
		case drawSafe, "":
		}
		if wish != "" && wrong == "" {
			wrong = fmt.Sprintf("the GPU setting %q is not one of auto, always and never", wish)
		}
	}
	switch {
	case m.Rendering == string(drawSafe):
		return choice{how: drawSafe, hint: "the window draws without the GPU, since it stayed blank with it; CARREL_GPU=auto or \"gpu\": \"auto\" in settings.jsonc tries it again"}
	case m.Blank > 0:
		return choice{how: drawSafe, hint: "the last window ended before it had drawn anything, so this one draws without the GPU"}
	}
	return choice{how: plainly(gpu), hint: wrong}
}

// plainly is how to draw when nothing went wrong and nobody asked.
func plainly(gpu bool) rendering {
	if gpu {
		return drawAuto
	}
	return drawNever
}

// began notes that a window starts to draw; it is taken back by drew.
func (m memory) began() memory {
	m.Blank++
	return m
}

// drew notes that a window, which had begun, has drawn something.
func (m memory) drew(how rendering) memory {
	switch {
	case how != drawSafe:
		m.Rescues = 0
	case m.Blank > 1:
		m.Rescues++
	}
	if m.Rescues >= rememberRescues {
		m.Rendering = string(drawSafe)
	}
	m.Blank = 0
	return m
}

// stayedBlank notes that a window stayed blank.
func (m memory) stayedBlank() memory {
	m.Blank, m.Rendering = 0, string(drawSafe)
	return m
}

// wants reports whether what the person asked for makes us forget that drawing failed once.
func (c choice) wants(m memory) memory {
	if c.how != drawSafe {
		m.Rendering = ""
	}
	return m
}
