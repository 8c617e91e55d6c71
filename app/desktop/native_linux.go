//go:build desktop

package desktop

/*
#cgo pkg-config: gtk+-3.0 webkit2gtk-4.1
#include <stdlib.h>
#include "native_linux.h"
*/
import "C"

import (
	"os"
	"runtime/cgo"
)

// prefersDark starts GTK, as Wails does a moment later, and asks it for the person's theme.
func prefersDark() bool {
	if session := os.Getenv("XDG_SESSION_TYPE"); os.Getenv("GDK_BACKEND") == "" && (session == "" || session == "unspecified" || session == "x11") {
		_ = os.Setenv("GDK_BACKEND", "x11") // Wails' own choice, which has to come before GTK starts
	}
	return C.carrel_prefers_dark() != 0
}

// fixSignals lets the Go runtime live with JavaScriptCore, which handles faults on whatever stack
// they happen: it gives those handlers the alternate stack that Go needs. All others stay as they
// are; SIGUSR1 belongs to the garbage collector of JavaScript, and freezes it when touched.
func fixSignals() { C.carrel_fix_signals() }

// watchView connects to the web view and its window once they exist, and puts the window where it
// was.
func watchView(w *window) {
	p := w.memory.Place
	known := C.int(0)
	if p.Width > 0 && !p.Maximised {
		known = 1
	}
	C.carrel_watch(C.uintptr_t(cgo.NewHandle(w)), known, C.int(p.X), C.int(p.Y))
}

//export carrelMayShow
func carrelMayShow(handle C.uintptr_t, address *C.char, chosen C.int) C.int {
	if cgo.Handle(handle).Value().(*window).mayShow(C.GoString(address), chosen != 0) {
		return 1
	}
	return 0
}

//export carrelMoved
func carrelMoved(handle C.uintptr_t, x, y, width, height, maximised C.int) {
	cgo.Handle(handle).Value().(*window).moved(place{int(x), int(y), int(width), int(height), maximised != 0})
}

//export carrelViewCrashed
func carrelViewCrashed(handle C.uintptr_t) {
	go cgo.Handle(handle).Value().(*window).keeper.viewCrashed()
}
