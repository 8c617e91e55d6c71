package desktop

import (
	"context"
	"time"

	"carrel/app"
	"carrel/app/attach"
)

// The waits for the page that the window was led to.
const (
	pageWait = 30 * time.Second
	pagePoll = 50 * time.Millisecond
)

// drop tells the core of dropped folders; the page hears of it from there.
func (w *window) drop(ctx context.Context, paths []string) {
	ctx, cancel := context.WithTimeout(ctx, pageWait)
	defer cancel()
	if err := w.keeper.Call(ctx, "projects.drop", app.DropFolders{Paths: paths}, nil); err != nil {
		w.log.Error("add the dropped folders", "error", err)
	}
}

// openGiven opens the folders of the command line once the page is there to show them.
func (w *window) openGiven(ctx context.Context) {
	deadline := time.Now().Add(pageWait)
	for ctx.Err() == nil && time.Now().Before(deadline) {
		// The window's process is a host, and the page in it is another.
		if core, err := attach.Find(ctx, w.root); err == nil && core.Hosts >= 2 {
			break
		}
		time.Sleep(pagePoll)
	}
	w.drop(ctx, w.given)
}

// drew hears that a page has been drawn.
func (w *window) drew() {
	w.once.Do(func() {
		close(w.painted)
		w.mu.Lock()
		w.memory = w.memory.drew(w.draw.how)
		w.mu.Unlock()
		w.save()
	})
}

// watch starts the window once more, with safer drawing, when it stays blank.
func (w *window) watch(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-w.painted:
		return
	case <-ctx.Done():
		return
	case <-timer.C:
	}
	select {
	case <-w.painted: // at the same moment
		return
	default:
	}
	if w.draw.asked || w.draw.how == drawSafe {
		w.log.Error("the window stays blank; CARREL_GPU=auto, always or never chooses how it draws, and carrel serve shows the same page in a browser")
		return
	}
	w.log.Warn("the window stays blank; it starts again and draws without the GPU from now on")
	w.mu.Lock()
	w.memory = w.memory.stayedBlank()
	w.mu.Unlock()
	w.save()
	w.log.Error("start the window again", "error", startAgain())
}

// moved hears of the window's place.
func (w *window) moved(p place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.Maximised { // the place to come back to stays
		before := w.memory.Place
		p.X, p.Y, p.Width, p.Height = before.X, before.Y, before.Width, before.Height
	}
	if p == w.memory.Place {
		return
	}
	w.memory.Place = p
	if w.saving == nil {
		w.saving = time.AfterFunc(time.Second, w.save)
	}
}

// save writes the memory.
func (w *window) save() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.saving != nil {
		w.saving.Stop()
		w.saving = nil
	}
	if err := remember(w.root, w.memory); err != nil {
		w.log.Warn("remember the window's place", "error", err)
	}
}

// mayShow decides where the web view may go. What the person chose to open elsewhere does so.
func (w *window) mayShow(address string, chosen bool) bool {
	if stays(address, w.keeper.address()) {
		return true
	}
	w.log.Info("the page may not go there", "chosen", chosen)
	if chosen && opens(address) {
		go w.screen.openURL(address)
	}
	return false
}
