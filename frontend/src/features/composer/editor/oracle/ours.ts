// What our Vim mode does with a case, key by key as the editor gets them.
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { getCM, Vim } from "@replit/codemirror-vim";
import { afterChange } from "../mend";
import { vimHistory, vimMode } from "../vim";
import { keysOf, type Case } from "./generate";
import type { State } from "./real";

// jsdom measures nothing; what the library asks for matters for moves over lines that wrap alone.
Range.prototype.getClientRects = () => Object.assign([], { item: () => null });
Range.prototype.getBoundingClientRect = () => new DOMRect();

const quiet = { mode: () => undefined, yank: () => undefined };

/** The states after each command. */
export async function inOurs(one: Case): Promise<State[]> {
  const undo = new Compartment();
  const view = new EditorView({ state: EditorState.create({ doc: "a~", extensions: [vimMode(quiet), undo.of(vimHistory())] }), parent: document.body });
  try {
    const cm = getCM(view);
    if (!cm) throw new Error("no vim mode");
    await Promise.resolve();
    for (const key of "0f~x") press(view, key);
    await Promise.resolve();
    Vim.getRegisterController().unnamedRegister.setText("", false, false);
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: one.lines.join("\n") }, effects: undo.reconfigure([]) });
    view.dispatch({ effects: undo.reconfigure(vimHistory()) });
    afterChange(view);
    const line = view.state.doc.line(one.line + 1);
    view.dispatch({ selection: { anchor: line.from + [...line.text].slice(0, one.column).join("").length } });
    const states: State[] = [];
    for (const { keys, tail } of one.commands) {
      for (const key of keysOf(keys)) press(view, key);
      if (tail !== undefined && cm.state.vim?.insertMode) for (const key of keysOf(tail)) press(view, key);
      await Promise.resolve();
      // A command that is not whole when the keys end is none.
      if (cm.state.vim && (cm.state.vim.inputState.operator || cm.state.vim.inputState.keyBuffer.length > 0)) press(view, "<Esc>");
      states.push(stateOf(view));
    }
    return states;
  } finally {
    view.destroy();
  }
}

const named: Record<string, { key: string; ctrlKey?: boolean }> = { "<Esc>": { key: "Escape" }, "<C-r>": { key: "r", ctrlKey: true }, "<Home>": { key: "Home" }, "<End>": { key: "End" }, "\n": { key: "Enter" } };

/** One key, the way that the editor's own handler takes it; what it leaves is typed. */
function press(view: EditorView, key: string): void {
  const cm = getCM(view);
  const plugin = cm?.state.vimPlugin as { handleKey(event: object, view: EditorView): boolean | undefined } | undefined;
  if (!cm || !plugin) return;
  const inserting = cm.state.vim?.insertMode ?? false;
  const nothing = () => undefined;
  const done = plugin.handleKey({ ctrlKey: false, altKey: false, metaKey: false, shiftKey: false, preventDefault: nothing, stopPropagation: nothing, ...(named[key] ?? { key }) }, view);
  if (!done && inserting) view.dispatch(view.state.replaceSelection(key), { userEvent: "input.type" });
}

function stateOf(view: EditorView): State {
  const { doc, selection } = view.state;
  const cm = getCM(view);
  const at = cm?.state.vim?.visualMode ? cm.indexFromPos(cm.state.vim.sel.head) : selection.main.head;
  const line = doc.lineAt(at);
  const register = Vim.getRegisterController().unnamedRegister;
  return { lines: doc.toString().split("\n"), line: line.number - 1, column: [...line.text.slice(0, at - line.from)].length, register: register.toString(), linewise: register.linewise };
}
