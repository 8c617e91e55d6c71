// Vim's moves over a text of lines: where each leads, and what an operator takes with it.
import { bracketed, quoted } from "./objects";
import { before, nextWord, wordEnd, wordObject, wordStart, type Lines, type Place } from "./words";

/** How a command takes a move. */
export type Use = "cursor" | "visual" | "delete" | "change" | "yank";

/** What a move comes to: the place, and for operators how the text up to it is taken. */
export interface Move {
  to: Place;
  /** Where the text begins, when that is not where the cursor is. */
  from?: Place;
  inclusive?: boolean;
  linewise?: boolean;
  /** There was less than was asked for: the cursor goes there, and operators do nothing. */
  short?: boolean;
}

/** What to find in a line, as f, F, t and T leave it for ; and ,. */
export interface Search {
  character: string;
  forward: boolean;
  till: boolean;
}

const firstNonBlank = (line: string) => Math.min(/^[ \t]*/.exec(line)?.[0].length ?? 0, Math.max(0, line.length - 1));

/** Where the cursor may be in a line, at most. */
function most(text: Lines, line: number, use: Use): number {
  const all = text.line(line);
  return use === "cursor" ? Math.max(0, before(all, all.length)) : all.length;
}

export function byCharacters(text: Lines, at: Place, count: number, forward: boolean, use: Use): Move | undefined {
  const line = text.line(at.line);
  let { ch } = at;
  for (let i = 0; i < count; i++) {
    const next = forward ? ch + ((line.codePointAt(ch) ?? 0) > 0xffff ? 2 : 1) : before(line, ch);
    if (next < 0 || next > most(text, at.line, use)) break;
    ch = next;
  }
  return ch === at.ch && (use === "cursor" || use === "visual") ? undefined : { to: { line: at.line, ch } };
}

/** Lines down or up, to a column that cells count. A count that is too large leads to the last line. */
export function byLines(text: Lines, at: Place, count: number, forward: boolean, column: number, use: Use): Move | undefined {
  const edge = forward ? text.last : 0;
  if (at.line === edge) return undefined;
  const line = forward ? Math.min(at.line + count, edge) : Math.max(at.line - count, edge);
  return { to: { line, ch: chAt(text.line(line), column, most(text, line, use)) }, linewise: true };
}

/** The cell in which a character begins. */
export function columnOf(line: string, ch: number): number {
  let cells = 0;
  for (const character of line.slice(0, ch)) cells += cellsOf(character);
  return cells;
}

function cellsOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  return (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) || (code >= 0xff00 && code <= 0xff60) || (code >= 0x1f300 && code <= 0x1faff) || code >= 0x20000 ? 2 : /\p{Mn}/u.test(character) ? 0 : 1;
}

function chAt(line: string, column: number, limit: number): number {
  let cells = 0;
  let ch = 0;
  for (const character of line) {
    const next = cells + cellsOf(character);
    if (next > column) break;
    cells = next;
    ch += character.length;
  }
  return Math.min(ch, limit);
}

/** w, b, e and theirs over blanks alone. Undefined when there is none. */
export function byWords(text: Lines, at: Place, count: number, forward: boolean, end: boolean, big: boolean, use: Use): Move | undefined {
  if (!forward) {
    const moved = wordStart(text, at, count, big);
    const to = { line: moved.line, ch: moved.ch };
    if (moved.whole) return { to };
    return to.line === at.line && to.ch === at.ch ? undefined : { to, short: true };
  }
  const operator = use === "delete" || use === "change" || use === "yank";
  const under = text.line(at.line)[at.ch];
  // cw on a word is ce that counts the word at whose end one is.
  const change = use === "change" && !end && under !== undefined && !/\s/.test(under);
  const moved = end || change ? wordEnd(text, at, count, big, change) : nextWord(text, at, count, big, operator);
  if (!moved.whole && !operator) {
    // What there is of it is gone, and the rest fails.
    const place = { line: moved.line, ch: Math.min(moved.ch, most(text, moved.line, use)) };
    return place.line === at.line && place.ch === at.ch ? undefined : { to: place };
  }
  let to: Place = { line: moved.line, ch: moved.ch };
  const line = text.line(to.line);
  const inclusive = end || change;
  // Not on the end of a line, unless that is where the text ends.
  if (inclusive && to.ch >= line.length && line !== "") to = { line: to.line, ch: before(line, line.length) };
  if (use === "cursor") to = { line: to.line, ch: Math.min(to.ch, most(text, to.line, use)) };
  return { to, inclusive };
}

export function toEnd(text: Lines, at: Place, count: number, use: Use): Move | undefined {
  if (count > 1 && at.line === text.last) return undefined;
  const line = Math.min(at.line + count - 1, text.last);
  return { to: { line, ch: use === "visual" ? text.line(line).length : Math.max(0, before(text.line(line), text.line(line).length)) }, inclusive: true };
}

/** gg and G, with the number of a line. */
export function toLine(text: Lines, number: number): Move {
  const line = Math.max(0, Math.min(number - 1, text.last));
  return { to: { line, ch: firstNonBlank(text.line(line)) }, linewise: true };
}

/** The first character of a line that is no blank, some lines down: _. */
export function toFirst(text: Lines, at: Place, count: number, use: Use): Move | undefined {
  if (count > 1 && at.line === text.last) return undefined;
  const line = Math.min(at.line + count - 1, text.last);
  return { to: { line, ch: use === "yank" && count === 1 ? at.ch : firstNonBlank(text.line(line)) }, ...(use === "yank" ? { from: at } : {}), linewise: true };
}

/** f, F, t and T. A repeated t goes over the character before which it stands. */
export function toCharacter(text: Lines, at: Place, count: number, { character, forward, till }: Search, repeated: boolean): Move | undefined {
  const line = text.line(at.line);
  let ch = at.ch;
  const skip = repeated && till && count === 1 ? 1 : 0;
  let left = count;
  const step = (from: number) => (forward ? line.indexOf(character, from + 1) : from === 0 ? -1 : line.lastIndexOf(character, from - 1));
  if (skip && line.startsWith(character, forward ? ch + 1 : ch - 1)) left++;
  while (left-- > 0) {
    ch = step(ch);
    if (ch < 0) return undefined;
  }
  if (till) ch = forward ? before(line, ch) : ch + character.length;
  return { to: { line: at.line, ch }, inclusive: forward };
}

/** iw, aw and what is between quotes and brackets of the line. */
export function object(text: Lines, at: Place, kind: string, around: boolean): Move | undefined {
  if (kind === "w") {
    const word = wordObject(text, at, around);
    return word && { from: word.start, to: word.end, inclusive: true };
  }
  const line = text.line(at.line);
  const part = /["'`]/.test(kind) ? quoted(line, at.ch, kind, around) : bracketed(line, at.ch, kind, around);
  return part && { from: { line: at.line, ch: part.from }, to: { line: at.line, ch: part.to } };
}

/** The text that an operator takes: whole lines, or up to a place that does not belong to it. */
export type Taken = { lines: true; from: number; to: number; cursor: Place } | { lines: false; from: Place; to: Place; inclusive: boolean };

/** What an operator takes of the text between the cursor and where a move leads. */
export function takenBy(text: Lines, at: Place, move: Move, use: Use): Taken {
  const other = move.from ?? at;
  const swapped = other.line > move.to.line || (other.line === move.to.line && other.ch > move.to.ch);
  const [from, end] = swapped ? [move.to, other] : [other, move.to];
  if (move.linewise) return { lines: true, from: from.line, to: end.line, cursor: from };
  const inIndent = /^[ \t]*$/.test(text.line(from.line).slice(0, from.ch));
  let to = end;
  if (!move.inclusive && end.ch === 0 && end.line > from.line && !move.from) {
    if (inIndent) return { lines: true, from: from.line, to: end.line - 1, cursor: from };
    to = { line: end.line - 1, ch: text.line(end.line - 1).length };
  } else if (move.inclusive) {
    const line = text.line(end.line);
    to = { line: end.line, ch: Math.min(line.length, end.ch + ((line.codePointAt(end.ch) ?? 0) > 0xffff ? 2 : 1)) };
  }
  if (use === "delete" && to.line > from.line && inIndent && /^[ \t]*$/.test(text.line(to.line).slice(to.ch))) return { lines: true, from: from.line, to: to.line, cursor: from };
  return { lines: false, from, to, inclusive: move.inclusive ?? false };
}

export { firstNonBlank };
