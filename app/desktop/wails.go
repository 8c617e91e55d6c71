//go:build desktop

package desktop

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/runtime"

	"carrel/app"
)

//go:embed icon.png
var icon []byte

// firstPaint is how long the window may take to draw something before it is taken for blank. A busy
// machine takes some three seconds.
const firstPaint = 15 * time.Second

// paintedEvent is what a page's script tells us when a frame of it has been drawn.
const paintedEvent = "carrel:painted"

// paintProbe runs in each page: the second frame begins when the first has been drawn. It talks to
// the window's process by the way that Wails' own scripts use, which the core's page does not load.
const paintProbe = `requestAnimationFrame(() => requestAnimationFrame(() =>
	window.webkit.messageHandlers.external.postMessage('EE{"name":"` + paintedEvent + `","data":[]}')))`

// show opens the window and returns when it is closed.
func (w *window) show(ctx context.Context) error {
	theme := w.keeper.theme
	dark := theme == "dark" || theme != "light" && prefersDark()
	width, height := w.memory.Place.size()
	guard := &guard{secret: w.secret, caller: w.keeper, signals: fixSignals, log: w.log}
	o := &options.App{
		Title: "Carrel", Width: width, Height: height, MinWidth: minWidth, MinHeight: minHeight,
		AssetServer:              &assetserver.Options{Handler: ownPage{w.secret}},
		BackgroundColour:         background(dark),
		Menu:                     applicationMenu(),
		Bind:                     append(services(guard, w.keeper), extraServices(guard)...),
		ErrorFormatter:           func(err error) any { return told(err) },
		DragAndDrop:              &options.DragAndDrop{EnableFileDrop: true},
		EnableDefaultContextMenu: true, // copy and paste
		OnStartup:                func(c context.Context) { w.started(ctx, c) },
		OnDomReady:               w.loaded,
		OnBeforeClose:            func(context.Context) bool { w.save(); return false },
		Linux:                    &linux.Options{Icon: icon, ProgramName: "carrel", WebviewGpuPolicy: gpuPolicy(w.draw.how)},
	}
	if w.memory.Place.Maximised {
		o.WindowStartState = options.Maximised
	}
	if err := wails.Run(o); err != nil {
		return fmt.Errorf("open the window: %w", err)
	}
	w.save()
	return nil
}

// started hears that the window exists. ctx ends with the process, c is what Wails wants to be
// called with.
func (w *window) started(ctx, c context.Context) {
	if s, ok := w.screen.(*wailsScreen); ok {
		s.start(c)
	}
	watchView(w)
	runtime.OnFileDrop(c, func(_, _ int, paths []string) { w.drop(ctx, paths) })
	runtime.EventsOn(c, paintedEvent, func(...any) {
		fixSignals() // the first message has started JavaScriptCore in this process
		w.drew()
	})
	go w.watch(ctx, paintWait())
	if len(w.given) > 0 {
		go w.openGiven(ctx)
	}
}

// loaded hears of each page that has loaded, the core's too.
func (w *window) loaded(c context.Context) {
	fixSignals()
	if !suppressPaint() {
		runtime.WindowExecJS(c, paintProbe)
	}
	extraLoaded(c)
}

// background is the page's colour, so that nothing flashes before it is there.
func background(dark bool) *options.RGBA {
	if dark {
		return options.NewRGB(0x10, 0x11, 0x13)
	}
	return options.NewRGB(0xff, 0xff, 0xff)
}

func gpuPolicy(how rendering) linux.WebviewGpuPolicy {
	switch how {
	case drawAlways:
		return linux.WebviewGpuPolicyAlways
	case drawNever, drawSafe:
		return linux.WebviewGpuPolicyNever
	case drawAuto:
	}
	return linux.WebviewGpuPolicyOnDemand
}

// failure is an error as the window's own page gets it.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func told(err error) failure {
	var known *app.Error
	if errors.As(err, &known) {
		return failure{known.Code, known.Message}
	}
	return failure{"internal", sentence(err)}
}
