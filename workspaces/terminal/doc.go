// Package terminal owns people's terminals: programs on ptys of a workspace's runtime, what they show, and
// the views that hosts have on them.
//
// It promises:
//
//   - A terminal lives until it is closed, whoever looks at it. A view that attaches gets the screen with
//     its newest scrollback, and from there on what the program writes, losing and repeating nothing.
//   - A program writes no faster than the view that leads takes it, and as fast as it can when nobody
//     looks. A view that falls behind otherwise, or takes nothing for five seconds, loses what waits for
//     it and gets the screen again. So a view costs at most 64 KiB, and none can stop a program for good.
//   - Typing never waits for output, nor output for typing.
//   - All views have one size, that of the view that leads: the one in which a person typed, or that he
//     chose, last. The program's size and the views' change at one place of the output.
//   - Questions of programs are answered by the screen, once, and by no view.
//   - Closing ends every process of the terminal.
package terminal
