// The editor that messages are written in. It is loaded when the page has been shown.
import { history, historyKeymap, insertNewline, isolateHistory, standardKeymap } from "@codemirror/commands";
import { Annotation, Compartment, EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, keymap, placeholder } from "@codemirror/view";
import type { Box, BoxListener, BoxLook } from "../box";
import { symbols } from "./symbols";
import { theme } from "./theme";
import { enterInsert, vimHistory, vimMode } from "./vim";

/** Marks changes that come from elsewhere, such as another window. */
const foreign = Annotation.define<boolean>();

const newline = { key: "Enter", run: insertNewline, shift: insertNewline };
// The composer's own keys have Enter, and the page has the chords.
const keys = [...standardKeymap.filter((one) => one.key !== "Enter"), ...historyKeymap.filter((one) => one.key !== "Mod-u")];

/** Makes an editor inside an element. */
export function mount(parent: HTMLElement, text: string, look: BoxLook, listener: BoxListener): Box {
  const shown = new Compartment();
  const modes = new Compartment();
  let now = look;

  const looks = (one: BoxLook) => [
    placeholder(one.placeholder),
    EditorView.editable.of(!one.disabled),
    EditorState.readOnly.of(one.disabled),
    EditorView.contentAttributes.of({ spellcheck: "true", autocorrect: "on", autocapitalize: "sentences", ...one.attributes, ...(one.disabled ? { "aria-disabled": "true", tabindex: "-1" } : {}) }),
  ];
  // The caret does not blink: an animation that never ends keeps a web view drawing while nothing happens.
  const mode = (vim: boolean) => (vim ? [vimMode(listener), vimHistory(), drawSelection({ cursorBlinkRate: 0 })] : [history()]);

  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      selection: { anchor: text.length },
      extensions: [
        Prec.highest(
          EditorView.domEventHandlers({
            keydown: (event) => listener.key(event),
            paste: (event) => listener.paste(event),
            // Dropped files are the composer's; a dropped text is the editor's.
            drop: (event) => event.dataTransfer?.types.includes("Files") ?? false,
            blur: () => void listener.blur(),
          }),
        ),
        // Esc stops nothing in Vim mode, Ctrl+C does.
        Prec.lowest(EditorView.domEventHandlers({ keydown: (event) => now.vim && event.key === "Escape" })),
        modes.of(mode(look.vim)),
        symbols(),
        keymap.of([newline, ...keys]),
        EditorView.lineWrapping,
        EditorState.tabSize.of(4),
        shown.of(looks(look)),
        theme,
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.every((one) => one.annotation(foreign))) listener.text(update.state.doc.toString());
          if (update.docChanged || update.selectionSet) {
            const { main } = update.state.selection;
            listener.cursor(main.empty ? main.head : undefined);
          }
        }),
      ],
    }),
  });
  if (look.vim) enterInsert(view);

  return {
    get text() {
      return view.state.doc.toString();
    },
    write(next, at = next.length) {
      const before = view.state.doc.toString();
      if (before === next) return;
      view.dispatch({ changes: { from: 0, to: before.length, insert: next }, selection: { anchor: Math.min(at, next.length) }, annotations: [foreign.of(true), isolateHistory.of("full")], scrollIntoView: true });
    },
    replace(from, to, by) {
      view.dispatch({ changes: { from, to, insert: by }, selection: { anchor: from + by.length }, scrollIntoView: true, userEvent: "input.complete" });
    },
    selection: () => view.state.selection.main,
    select: (from, to) => view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true }),
    focus: () => view.focus(),
    focused: () => view.hasFocus,
    look(next) {
      const vim = next.vim !== now.vim;
      now = next;
      view.dispatch({ effects: [shown.reconfigure(looks(next)), ...(vim ? [modes.reconfigure(mode(next.vim))] : [])] });
      if (vim && next.vim) enterInsert(view);
      else if (vim) listener.mode("", "");
    },
    restart() {
      if (now.vim) enterInsert(view);
    },
    destroy: () => view.destroy(),
  };
}
