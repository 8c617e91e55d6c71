// Vim's modes, by the library, with what it does otherwise than Vim mended in mend.ts.
import { history, isolateHistory } from "@codemirror/commands";
import { EditorState, Transaction, type Extension } from "@codemirror/state";
import { EditorView, ViewPlugin } from "@codemirror/view";
import { getCM, Vim, vim } from "@replit/codemirror-vim";
import type { BoxListener, Mode } from "../box";
import { afterChange, beforeKey, mend, onTaken, probe } from "./mend";

/** Vim's modes; vimHistory goes with them. */
export function vimMode(listener: Pick<BoxListener, "mode" | "yank">): Extension {
  mend();
  return [vim(), watch(listener)];
}

/** Undo in commands: all that happens between the ends of two of them belongs together. */
export function vimHistory(): Extension {
  return [
    // Years: only what ends a step ends it.
    history({ newGroupDelay: 1e11, joinToEvent: () => true }),
    EditorState.transactionExtender.of((one) => (one.selection && !one.docChanged ? { annotations: Transaction.addToHistory.of(false) } : null)),
  ];
}

/** Goes to insert mode, where the cursor is. */
export function enterInsert(view: EditorView): void {
  const cm = getCM(view);
  if (!cm?.state.vim || cm.state.vim.insertMode) return;
  probe(cm);
  if (cm.state.vim.visualMode) Vim.handleKey(cm, "<Esc>", "user");
  const at = view.state.selection.main.head;
  Vim.handleKey(cm, "i", "user");
  view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) } });
}

/** Ends a step of undo, unless what is inserted still belongs to it. */
export function endStep(view: EditorView): void {
  const state = getCM(view)?.state.vim;
  if (!state || state.insertMode) return;
  view.dispatch({ annotations: isolateHistory.of("full") });
  afterChange(view);
}

function modeOf(name: string): Mode {
  return name === "insert" || name === "visual" || name === "replace" || name === "visual line" ? name : name === "visual block" ? "visual" : "normal";
}

function watch(listener: Pick<BoxListener, "mode" | "yank">) {
  return ViewPlugin.define((view) => {
    const cm = getCM(view);
    let told = "";
    onTaken(view, listener.yank);
    let gone = false;
    const tell = () => {
      const state = cm?.state.vim;
      if (!state || gone) return;
      const mode = modeOf(state.insertMode ? (cm.state.overwrite ? "replace" : "insert") : (state.mode ?? "normal"));
      const pending = state.insertMode ? "" : state.status.slice(0, 20);
      if (told === `${mode} ${pending}`) return;
      told = `${mode} ${pending}`;
      listener.mode(mode, pending);
    };
    cm?.on("inputEvent", (event: { type: string; key?: string }) => {
      if (event.type === "handleKey" && event.key) beforeKey(cm, event.key);
    });
    const done = () =>
      queueMicrotask(() => {
        if (gone) return;
        endStep(view);
        tell();
      });
    cm?.on("vim-command-done", done);
    cm?.on("vim-mode-change", done);
    cm?.on("vim-keypress", tell);
    queueMicrotask(() => {
      if (cm?.state.vim && !cm.state.vim.insertMode && !gone) probe(cm);
      tell();
    });
    return { destroy: () => void (gone = true) };
  });
}
