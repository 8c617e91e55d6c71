// Vim's modes, by the library, with what it does otherwise than Vim mended in mend.ts.
import { history, isolateHistory } from "@codemirror/commands";
import type { Extension } from "@codemirror/state";
import { EditorView, ViewPlugin } from "@codemirror/view";
import { getCM, Vim, vim } from "@replit/codemirror-vim";
import type { BoxListener, Mode } from "../box";
import { mend } from "./mend";

/** Vim's modes, and an undo history as Vim keeps it: what one insertion wrote is one step. */
export function vimMode(listener: Pick<BoxListener, "mode" | "yank">): Extension {
  mend();
  return [vim(), history({ newGroupDelay: Number.MAX_SAFE_INTEGER, joinToEvent: () => true }), watch(listener)];
}

/** Goes to insert mode, where the cursor is. */
export function enterInsert(view: EditorView): void {
  const cm = getCM(view);
  if (!cm?.state.vim || cm.state.vim.insertMode) return;
  if (cm.state.vim.visualMode) Vim.handleKey(cm, "<Esc>", "user");
  const at = view.state.selection.main.head;
  Vim.handleKey(cm, "i", "user");
  view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) } });
}

function modeOf(name: string): Mode {
  return name === "insert" || name === "visual" || name === "replace" || name === "visual line" ? name : name === "visual block" ? "visual" : "normal";
}

function watch(listener: Pick<BoxListener, "mode" | "yank">) {
  return ViewPlugin.define((view) => {
    const cm = getCM(view);
    let told = "";
    const tell = () => {
      const state = cm?.state.vim;
      if (!state) return;
      const mode = modeOf(state.insertMode ? (cm.state.overwrite ? "replace" : "insert") : (state.mode ?? "normal"));
      const pending = state.insertMode ? "" : state.status.slice(0, 20);
      if (told === `${mode} ${pending}`) return;
      told = `${mode} ${pending}`;
      listener.mode(mode, pending);
    };
    // A command is one step of undo: what it changed, and what was typed into it.
    const done = () => {
      if (!cm?.state.vim?.insertMode) queueMicrotask(() => cm?.state.vim && !cm.state.vim.insertMode && view.dispatch({ annotations: isolateHistory.of("full") }));
      tell();
    };
    cm?.on("vim-command-done", done);
    cm?.on("vim-mode-change", () => queueMicrotask(tell));
    cm?.on("vim-keypress", tell);
    queueMicrotask(tell);
    return {};
  });
}
