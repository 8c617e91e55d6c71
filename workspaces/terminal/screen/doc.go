// Package screen is a terminal without a display: it reads what programs write to a terminal and keeps
// what a person would see, so that a host that attaches late gets the screen and not megabytes of past
// output.
//
// It follows xterm.js, the page's terminal, sign for sign: Snapshot writes a text that brings an xterm
// that was just reset to the same screen, scrollback, cursor and modes. Tests hold the two against each
// other.
//
// Everything that a program can say is bounded: parameters, strings, titles, scrollback. The emulators
// that we looked at take 0.4 to 3 MB/s or keep no scrollback; this one has to read floods at the speed of
// a pipe.
package screen
