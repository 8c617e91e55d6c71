// How many columns text takes in a terminal, and which runes are one character. The core counts by the same
// table and the same rules (workspaces/terminal/screen/width.go); a test holds the two together.
import { unicodeTable } from "./unicode.gen";

/** What xterm asks for: https://github.com/xtermjs/xterm.js, IUnicodeVersionProvider. */
export interface WidthProvider {
  readonly version: string;
  wcwidth(codepoint: number): 0 | 1 | 2;
  charProperties(codepoint: number, preceding: number): number;
}

const wide = 1;
const extend = 2;
const pict = 3;
const widePict = 4;
const flag = 5;

const other = 1;
const afterPict = 2;
const afterJoiner = 3;
const afterFlag = 4;

const maxJoined = 16;

function readTable(): Uint8Array {
  const table = new Uint8Array(0x110000);
  let at = 0;
  for (const part of unicodeTable.split(";")) {
    const [skip = "0", size = "0", kind = "0"] = part.split(",");
    at += parseInt(skip, 36);
    const end = at + parseInt(size, 36);
    table.fill(Number(kind), at, end);
    at = end;
  }
  return table;
}

/** xterm's form: the kind of the character so far, its width, whether the rune joined it. */
function properties(kind: number, count: number, width: number, joins: boolean): number {
  return ((kind | (count << 3)) << 3) | (width << 1) | (joins ? 1 : 0);
}

export function widthProvider(): WidthProvider {
  const table = readTable();
  const widthOf = (kind: number) => (kind === wide || kind === widePict ? 2 : 1);
  const plain = properties(other, 1, 1, false);
  return {
    version: "carrel",
    wcwidth: (codepoint) => widthOf(table[codepoint] ?? 0),
    charProperties: (codepoint, preceding) => {
      if (codepoint < 0x300 && codepoint !== 0xa9 && codepoint !== 0xae) return plain;
      const kind = table[codepoint] ?? 0;
      const before = (preceding >> 3) & 7;
      const count = preceding >> 6;
      const oldWidth = (preceding >> 1) & 3;
      let width = widthOf(kind);
      const fresh = properties(kind === pict || kind === widePict ? afterPict : kind === flag ? afterFlag : other, 1, width, false);
      if (preceding === 0 || count >= maxJoined) return fresh;
      let after: number;
      if (kind === extend) {
        after = before === afterPict && codepoint === 0x200d ? afterJoiner : before === afterFlag || before === afterJoiner ? other : before;
        if (before === afterPict && codepoint === 0xfe0f) width = 2;
      } else if (before === afterJoiner && (kind === pict || kind === widePict)) after = afterPict;
      else if (before === afterFlag && kind === flag) {
        after = other;
        width = 2;
      } else return fresh;
      return properties(after, count + 1, Math.max(width, oldWidth), true);
    },
  };
}
