// Where our Vim mode does otherwise than Vim, and why. The test ends a sequence there, after it has looked
// whether the difference is the one that is meant.
//
//  1. Esc in visual mode takes the cursor to where the selection begins: docs/composer.md promises it. The
//     script in real.ts does the same after Vim's Esc, so that sequences go on.
//  2. Brackets: i( and the like look in the line of the cursor alone, where Vim looks in the whole text. A
//     message's lines are seldom code, and a stray bracket must not delete a paragraph.
//  3. Undo and redo: where a change took several lines, the cursor may stand on another one of them. The
//     text is the same.
//  4. Undo and redo: Vim keeps a step for a command that changed nothing, such as D on an empty line, and
//     undoes that. Nobody wants it.
//  5. A dot after a change in visual mode or of brackets takes as many characters as the change took, where
//     Vim also knows of ends of lines; the page limits the dot to structural edits.
//     And where what it changes is not there, Vim does nothing, and the library inserts what was inserted.
//  6. Of the script, not of Vim: behind cf and its like Vim sometimes reads the key that stands for what is
//     typed without its mapping, and inserts nothing. What was deleted is compared.
//  7. A message of nothing but blanks: aw fails, and c on a text whose lines were all deleted takes the empty
//     line, where Vim tells a text without lines from one with an empty line.
import { bracketed } from "../objects";
import type { Case, Stroke } from "./generate";
import type { State } from "./real";

/** The number of the difference that a state shows, with the state before it; undefined when it is none. */
export function differs(keys: string, earlier: readonly Stroke[], before: State | undefined, { lines, line, column }: Case, vim: State | undefined, ours: State | undefined): string | undefined {
  if (!vim || !ours) return undefined;
  const from = before ?? { lines, line, column, register: "", linewise: false };
  const text = from.lines[from.line] ?? "";
  const bracket = /[ia]([([{])$/.exec(keys)?.[1];
  if (bracket !== undefined) {
    const at = [...text].slice(0, from.column).join("").length;
    const untouched = ours.lines.join("\n") === from.lines.join("\n") && ours.register === from.register;
    return bracketed(text, at, bracket, true) === undefined && untouched ? "brackets" : undefined;
  }
  const failed = vim.lines.join("\n") === from.lines.join("\n") && earlier.some((one) => one.keys.includes("c"));
  if (keys === "." && (failed || earlier.some((one) => /^[vV]$|[ia][([{]$|c[;,]$/.test(one.keys)))) return "dot";
  if (from.lines.every((one) => one.trim() === "")) return "blank text";
  if (/^(u|<C-r>)$/.test(keys) && vim.lines.join("\n") === from.lines.join("\n")) return "empty step";
  if (/^\d*c\d*[fFtT].$/.test(keys) && vim.register === ours.register && vim.lines.join("\n").length < ours.lines.join("\n").length) return "script";
  const sameText = vim.lines.join("\n") === ours.lines.join("\n") && vim.register === ours.register && vim.linewise === ours.linewise;
  return /^(u|<C-r>)$/.test(keys) && sameText ? "undo" : undefined;
}
