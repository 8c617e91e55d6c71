// Package desktop is the window: a second, small process beside the core, and the only place that
// knows Wails.
//
// The window finds or starts the core, shows a page of its own until the core answers, and then goes
// to the page that the core serves. From there on it is one more host of the core, with the role
// desktop: the core asks it for the folder dialog, to come to the front and to open addresses, and it
// tells the core of folders that were dropped on it.
//
// It promises: one window per data root, and a second start hands its folders to the first; when the
// window ends, however it ends, nothing that the core does is lost; when the core ends, the window
// starts it again and comes back; the web view shows our own page and the core's page and nothing
// else; the window's own page alone, by a secret that each load of it gets, can call what is bound.
//
// Closing the window needs no question: the core goes on while something works in it, and ends by
// itself when it has been idle for a while.
//
// What needs Wails, GTK or cgo carries the build tag desktop; everything else is plain Go.
package desktop
