// Vim's moves and operators in place of the library's, which does otherwise than Vim in some of what our
// Vim mode promises, and the keys that it leaves to the page. oracle/ holds the two against each other.
import { redo, undo, undoDepth } from "@codemirror/commands";
import type { EditorView } from "@codemirror/view";
import { getCM, Vim } from "@replit/codemirror-vim";
import { byCharacters, byLines, byWords, columnOf, firstNonBlank, object, takenBy, toCharacter, toEnd, toFirst, toLine, type Move, type Search, type Taken, type Use } from "./moves";
import type { Lines, Place } from "./words";

type Cm = NonNullable<ReturnType<typeof getCM>>;
type MotionFn = Parameters<typeof Vim.defineMotion>[1];
type Actions = Record<string, (cm: unknown, args: unknown, vim: unknown) => void>;

/** Keys with Ctrl are the page's and the system's, but for Ctrl+R, Ctrl+[ and Ctrl+C. */
const left: readonly (readonly [key: string, context?: string])[] = [
  ["<C-n>"], ["<C-p>"], ["<C-f>"], ["<C-b>"], ["<C-d>"], ["<C-u>"], ["<C-u>", "insert"], ["<C-w>", "insert"], ["<C-w>", "normal"], ["<C-i>"], ["<C-o>"],
  ["<C-e>"], ["<C-y>"], ["<C-v>"], ["<C-q>"], ["<C-r><register>", "insert"], ["<C-o>", "insert"], ["<C-a>"], ["<C-x>"], ["<C-t>", "insert"], ["<C-d>", "insert"],
  // Enter sends.
  ["<CR>", "normal"],
];

/** What the library keeps to itself, and what it is told between two of its calls. */
const held = {
  mended: false,
  actions: undefined as Actions | undefined,
  taken: undefined as Taken | undefined,
  search: undefined as Search | undefined,
};

/** The most that a count can be. */
const mostCount = 10_000;

/** Changes the library's keys, moves and operators, once. */
export function mend(): void {
  if (held.mended) return;
  held.mended = true;
  let filler = 0;
  for (const [key, context] of left) {
    Vim.unmap(key, context as string);
    // The library counts its keys; one that no keyboard has keeps the number.
    Vim.mapCommand(`<F${100 + filler++}>`, "idle", "", {}, {});
  }
  Vim.mapCommand("<F99>", "action", "carrelProbe", {}, {});
  Vim.defineAction("carrelProbe", function (this: unknown) {
    held.actions = this as Actions;
  } as Parameters<typeof Vim.defineAction>[1]);
  Vim.mapCommand("~", "action", "carrelSwapCase", {}, { isEdit: true, context: "normal" });
  moves();
  operators();
  actions();
}

const takers = new WeakMap<EditorView, (text: string) => void>();

/** Tells of text that an editor's y and dd take. */
export function onTaken(view: EditorView, taker: (text: string) => void): void {
  takers.set(view, taker);
}

/** Gets at the library's own actions; call it once for an editor in normal mode. */
export function probe(cm: Cm): void {
  if (!held.actions) Vim.handleKey(cm, "<F99>", "mapping");
}

const linesOf = (cm: Cm): Lines => ({ line: (at) => cm.getLine(at), last: cm.lastLine() });

const viewOf = (cm: Cm): EditorView => cm.cm6;

/** Where each editor's cursor wants to be when it goes up and down, and where it was before each change. */
const wanted = new WeakMap<EditorView, { at: Place; column: number }>();
const begun = new WeakMap<EditorView, { now: Place; before: Map<number, Place>; depth: number; travelled: boolean }>();

/** To be told of each key before the library gets it. */
export function beforeKey(cm: Cm, key: string): void {
  const vim = cm.state.vim;
  if (!vim || vim.insertMode) return;
  if (vim.visualMode && key === "<Esc>") {
    // The cursor goes back to where the selection begins.
    const { anchor, head } = vim.sel;
    const first = anchor.line < head.line || (anchor.line === head.line && anchor.ch < head.ch) ? anchor : head;
    vim.sel.head = clip(cm, first);
    wanted.delete(viewOf(cm));
    return;
  }
  const view = viewOf(cm);
  const known = begun.get(view) ?? { now: { line: 0, ch: 0 }, before: new Map<number, Place>(), depth: undoDepth(view.state), travelled: false };
  if (!vim.inputState.operator && vim.inputState.keyBuffer.length === 0 && !vim.visualMode) known.now = plain(cm.getCursor());
  if (!vim.inputState.operator && vim.inputState.keyBuffer.length === 0) edits.set(view, editOf(vim));
  if (vim.visualMode) known.now = plain(cm.getCursor("start"));
  begun.set(view, known);
}

/** To be told of each command that is done: what it changed began where the cursor was before it. */
export function afterChange(view: EditorView): void {
  const known = begun.get(view);
  if (!known) return;
  const depth = undoDepth(view.state);
  if (!known.travelled && depth > known.depth) known.before.set(depth, known.now);
  known.travelled = false;
  known.depth = depth;
}

/** What . repeats. */
function editOf(vim: NonNullable<Cm["state"]["vim"]>) {
  const { changes } = Vim.getVimGlobalState_().macroModeState.lastInsertModeChanges;
  return { input: vim.lastEditInputState, action: vim.lastEditActionCommand, changes };
}

const edits = new WeakMap<EditorView, ReturnType<typeof editOf>>();

/** A command that changed nothing is not what . repeats. */
function keepEdit(cm: Cm): void {
  const kept = edits.get(viewOf(cm));
  const vim = cm.state.vim;
  if (!kept || !vim || Vim.getVimGlobalState_().macroModeState.isPlaying) return;
  vim.lastEditInputState = kept.input;
  vim.lastEditActionCommand = kept.action;
  Vim.getVimGlobalState_().macroModeState.lastInsertModeChanges.changes = kept.changes;
}

const plain = ({ line, ch }: Place): Place => ({ line, ch });

function moves(): void {
  const define = (name: string, find: (text: Lines, at: Place, count: number, args: { forward: boolean; wordEnd?: boolean; bigWord?: boolean; repeatIsExplicit?: boolean; selectedCharacter?: string; textObjectInner?: boolean; toFirstChar?: boolean; repeatOffset?: number }, use: Use, cm: Cm) => Move | undefined) => {
    Vim.defineMotion(name, ((cm: Cm, head: Place, args: never, vim: { visualMode: boolean }, input: { operator?: string }) => {
      const given = args as Parameters<typeof find>[3] & { repeat: number; inclusive?: boolean; linewise?: boolean };
      const use: Use = vim.visualMode ? "visual" : input.operator === "delete" || input.operator === "change" || input.operator === "yank" ? input.operator : input.operator ? "delete" : "cursor";
      const text = linesOf(cm);
      const at = plain(head);
      const move = find(text, at, Math.min(mostCount, given.repeat || 1), given, use, cm);
      held.taken = undefined;
      if (!move || (move.short && input.operator)) {
        if (input.operator) keepEdit(cm);
        if (move) cm.setCursor(clip(cm, move.to));
        return undefined;
      }
      if (use !== "cursor" && use !== "visual") held.taken = takenBy(text, at, move, use);
      const pos = (place: Place) => cm.posFromIndex(cm.indexFromPos(place as never));
      return move.from ? [pos(move.from), pos(move.to)] : pos(move.to);
    }) as unknown as MotionFn);
  };
  define("moveByCharacters", (text, at, count, { forward }, use) => byCharacters(text, at, count, forward, use));
  define("moveByLines", (text, at, count, { forward, toFirstChar, repeatOffset }, use, cm) => {
    if (toFirstChar && repeatOffset === -1) return toFirst(text, at, count, use);
    const view = viewOf(cm);
    const kept = wanted.get(view);
    const column = kept && kept.at.line === at.line && kept.at.ch === at.ch ? kept.column : columnOf(text.line(at.line), at.ch);
    const move = byLines(text, at, count, forward, column, use);
    if (move && toFirstChar) move.to.ch = firstNonBlank(text.line(move.to.line));
    else if (move && (use === "cursor" || use === "visual")) wanted.set(view, { at: move.to, column });
    return move;
  });
  define("moveByWords", (text, at, count, { forward, wordEnd, bigWord }, use) => byWords(text, at, count, forward, wordEnd ?? false, bigWord ?? false, use));
  define("moveToEol", (text, at, count, _args, use, cm) => {
    const move = toEnd(text, at, count, use);
    if (move && (use === "cursor" || use === "visual")) wanted.set(viewOf(cm), { at: move.to, column: Infinity });
    return move;
  });
  define("moveToLineOrEdgeOfDocument", (text, _at, count, { forward, repeatIsExplicit }) => toLine(text, repeatIsExplicit ? count : forward ? text.last + 1 : 1));
  define("expandToLine", (text, at, count, _args, use) => (count > 1 && at.line === text.last ? undefined : { from: at, to: { line: Math.min(at.line + count - 1, text.last), ch: use === "yank" ? at.ch : 0 }, linewise: true }));
  define("moveToStartOfLine", (_text, at) => ({ to: { line: at.line, ch: 0 } }));
  const search = (till: boolean) => (text: Lines, at: Place, count: number, { forward, selectedCharacter = "" }: { forward: boolean; selectedCharacter?: string }) => {
    held.search = { character: selectedCharacter, forward, till };
    return toCharacter(text, at, count, held.search, false);
  };
  define("moveToCharacter", search(false));
  define("moveTillCharacter", search(true));
  define("repeatLastCharacterSearch", (text, at, count, { forward }) => held.search && toCharacter(text, at, count, { ...held.search, forward: held.search.forward === forward }, true));
  define("textObjectManipulation", (text, at, _count, { selectedCharacter = "", textObjectInner }) => object(text, at, selectedCharacter, !textObjectInner));
}

/** What an operator takes in visual mode: with the character under the cursor, or the end of its line. */
function selected(cm: Cm): Taken {
  const vim = cm.state.vim;
  const { anchor, head } = vim ? vim.sel : { anchor: cm.getCursor("anchor"), head: cm.getCursor("head") };
  const ahead = anchor.line < head.line || (anchor.line === head.line && anchor.ch <= head.ch);
  const [from, end] = ahead ? [plain(anchor), plain(head)] : [plain(head), plain(anchor)];
  if (vim?.visualLine) return { lines: true, from: from.line, to: end.line, cursor: { line: from.line, ch: head.line < anchor.line ? head.ch : 0 } };
  const line = cm.getLine(end.line);
  if (end.ch >= line.length && end.line < cm.lastLine()) return { lines: false, from, to: { line: end.line + 1, ch: 0 }, inclusive: true };
  return { lines: false, from, to: { line: end.line, ch: Math.min(line.length, end.ch + ((line.codePointAt(end.ch) ?? 0) > 0xffff ? 2 : 1)) }, inclusive: end.ch < line.length };
}

function operators(): void {
  const define = (name: "delete" | "change" | "yank") => {
    Vim.defineOperator(name, ((cm: Cm, args: { registerName?: string }) => {
      const vim = cm.state.vim;
      const taken = vim?.visualMode ? selected(cm) : held.taken;
      held.taken = undefined;
      if (!taken) return undefined;
      if (name !== "yank") wanted.delete(viewOf(cm));
      const text = linesOf(cm);
      const content = taken.lines ? `${Array.from({ length: taken.to - taken.from + 1 }, (_, i) => text.line(taken.from + i)).join("\n")}\n` : cm.getRange(taken.from as never, taken.to as never);
      const nothing = emptied.get(viewOf(cm)) === viewOf(cm).state.doc;
      const empty = nothing || (!taken.lines && content === "");
      if (!empty || name === "yank" || (name === "change" && !nothing && !taken.lines && taken.inclusive)) Vim.getRegisterController().pushText(args.registerName, name, content, taken.lines, false);
      // What is taken as a whole is on the system's clipboard, too.
      if (name === "yank" || (name === "delete" && taken.lines)) takers.get(viewOf(cm))?.(content);
      if (name === "yank") keepEdit(cm);
      if (name === "yank") return clip(cm, taken.lines ? taken.cursor : taken.from);
      if (name === "change") return change(cm, taken);
      return empty ? clip(cm, taken.lines ? taken.cursor : taken.from) : remove(cm, taken);
    }) as unknown as Parameters<typeof Vim.defineOperator>[1]);
  };
  define("delete");
  define("change");
  define("yank");
}

/** Texts of which all lines were deleted: there is nothing in them to take. */
const emptied = new WeakMap<EditorView, unknown>();

/** A place where the cursor may be in normal mode. */
function clip(cm: Cm, { line, ch }: Place) {
  const at = Math.max(0, Math.min(line, cm.lastLine()));
  return cm.posFromIndex(cm.indexFromPos({ line: at, ch: Math.max(0, Math.min(ch, cm.getLine(at).length - 1)) } as never));
}

function remove(cm: Cm, taken: Taken) {
  if (!taken.lines) {
    cm.replaceRange("", taken.from as never, taken.to as never);
    return clip(cm, taken.from);
  }
  const last = cm.lastLine();
  const from = taken.to < last || taken.from === 0 ? { line: taken.from, ch: 0 } : { line: taken.from - 1, ch: cm.getLine(taken.from - 1).length };
  const to = taken.to < last ? { line: taken.to + 1, ch: 0 } : { line: taken.to, ch: cm.getLine(taken.to).length };
  cm.replaceRange("", from as never, to as never);
  if (taken.from === 0 && taken.to === last) emptied.set(viewOf(cm), viewOf(cm).state.doc);
  const line = Math.min(taken.from, cm.lastLine());
  return clip(cm, { line, ch: firstNonBlank(cm.getLine(line)) });
}

function change(cm: Cm, taken: Taken): undefined {
  const [from, to] = taken.lines ? [{ line: taken.from, ch: 0 }, { line: taken.to, ch: cm.getLine(taken.to).length }] : [taken.from, taken.to];
  cm.replaceRange("", from as never, to as never);
  held.actions?.["enterInsertMode"]?.(cm, { head: cm.posFromIndex(cm.indexFromPos(from as never)) }, cm.state.vim);
  return undefined;
}

function actions(): void {
  const define = (name: string, act: (this: Actions, cm: Cm, args: { after?: boolean; repeat: number; registerName?: string }, vim: unknown) => void) => Vim.defineAction(name, act as unknown as Parameters<typeof Vim.defineAction>[1]);
  define("newLineAndEnterInsertMode", function (cm, args, vim) {
    const { line } = cm.getCursor();
    cm.replaceRange("\n", (args.after ? { line, ch: cm.getLine(line).length } : { line, ch: 0 }) as never);
    cm.setCursor((args.after ? { line: line + 1, ch: 0 } : { line, ch: 0 }) as never);
    this["enterInsertMode"]?.(cm, { repeat: args.repeat }, vim);
  });
  define("paste", (cm, args) => {
    const register = Vim.getRegisterController().getRegister(args.registerName);
    const text = register.toString().repeat(Math.max(1, Math.min(args.repeat || 1, mostCount)));
    if (text === "") return;
    const { line, ch } = cm.getCursor();
    const all = cm.getLine(line);
    if (register.linewise) {
      const below = args.after ?? false;
      if (below) cm.replaceRange(`\n${text.slice(0, -1)}`, { line, ch: all.length } as never);
      else cm.replaceRange(text, { line, ch: 0 } as never);
      const first = below ? line + 1 : line;
      cm.setCursor({ line: first, ch: firstNonBlank(cm.getLine(first)) } as never);
      return;
    }
    const at = { line, ch: args.after && all !== "" ? Math.min(all.length, ch + ((all.codePointAt(ch) ?? 0) > 0xffff ? 2 : 1)) : ch };
    cm.replaceRange(text, at as never);
    cm.setCursor(clip(cm, text.includes("\n") ? at : { line, ch: at.ch + text.length - 1 }));
  });
  define("carrelSwapCase", (cm, args) => {
    const { line, ch } = cm.getCursor();
    const end = Math.min(cm.getLine(line).length, ch + Math.max(1, Math.min(args.repeat || 1, mostCount)));
    const text = cm.getLine(line).slice(ch, end);
    cm.replaceRange([...text].map((one) => (one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase())).join(""), { line, ch } as never, { line, ch: end } as never);
    cm.setCursor(clip(cm, { line, ch: end }));
  });
  define("undo", (cm, args) => travel(cm, args.repeat, undo));
  define("redo", (cm, args) => travel(cm, args.repeat, redo));
}

/** Undoes or does again, with the cursor where the change began if that is in what changes. */
function travel(cm: Cm, repeat: number, step: typeof undo): void {
  const view = viewOf(cm);
  for (let i = 0; i < Math.max(1, Math.min(repeat || 1, mostCount)); i++) {
    const depth = undoDepth(view.state) + (step === redo ? 1 : 0);
    const old = view.state.doc.toString().split("\n");
    if (!step(view)) return;
    const now = view.state.doc.toString().split("\n");
    const known = begun.get(view);
    const saved = known?.before.get(depth);
    if (known) known.travelled = true;
    let top = 0;
    while (top < old.length && top < now.length && old[top] === now[top]) top++;
    let tail = 0;
    while (tail < old.length - top && tail < now.length - top && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
    const size = now.length - top - tail;
    let line = saved && saved.line >= top && saved.line <= top + size ? saved.line : top;
    if (saved && saved.line + 1 === line) line--;
    line = Math.max(0, Math.min(line, now.length - 1));
    cm.setCursor(clip(cm, { line, ch: saved?.line === line ? saved.ch : firstNonBlank(now[line] ?? "") }));
  }
}
