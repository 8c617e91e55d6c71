// Words, as Vim sees them, in a text of lines.

/** A place: a line and a UTF-16 unit in it, which may be one behind the last. */
export interface Place {
  line: number;
  ch: number;
}

/** A text whose lines can be read. */
export interface Lines {
  line(at: number): string;
  last: number;
}

/** The kind of the character at a place: 0 for blanks and the end of a line, 1 for signs, others for letters. */
function kind(text: Lines, { line, ch }: Place, big: boolean): number {
  const code = text.line(line).codePointAt(ch);
  if (code === undefined || code === 32 || code === 9 || code === 0xa0) return 0;
  if (big) return 1;
  if (code < 0x100) return /[\w\u00b5\u00c0-\u00ff]/.test(String.fromCharCode(code)) ? 2 : 1;
  for (const [from, to, made] of kinds) if (code >= from && code <= to) return made;
  return /\p{P}|\p{S}/u.test(String.fromCodePoint(code)) ? 1 : 2;
}

const kinds: readonly (readonly [number, number, number])[] = [
  [0x2000, 0x200b, 0], [0x2010, 0x206f, 1], [0x2190, 0x2bff, 1], [0x3000, 0x3000, 0], [0x3001, 0x3020, 1], [0x3040, 0x309f, 0x3040], [0x30a0, 0x30ff, 0x30a0],
  [0x3400, 0x9fff, 0x4e00], [0xac00, 0xd7a3, 0xac00], [0xf900, 0xfaff, 0x4e00], [0xff01, 0xff0f, 1], [0x1f000, 0x1faff, 3], [0x20000, 0x2fa1f, 0x4e00],
];

const width = (text: string, ch: number) => ((text.codePointAt(ch) ?? 0) > 0xffff ? 2 : 1);
/** One character back in a line. */
export const before = (text: string, ch: number) => (ch >= 2 && /[\ud800-\udbff]/.test(text[ch - 2] ?? "") && /[\udc00-\udfff]/.test(text[ch - 1] ?? "") ? ch - 2 : ch - 1);

/** A cursor that steps as Vim's does: over the end of a line, too. */
class Walker {
  line: number;
  ch: number;
  readonly #text: Lines;
  readonly #big: boolean;

  constructor(text: Lines, at: Place, big: boolean) {
    this.#text = text;
    this.#big = big;
    this.line = at.line;
    this.ch = at.ch;
  }

  get kind(): number {
    return kind(this.#text, this, this.#big);
  }

  get emptyLine(): boolean {
    return this.ch === 0 && this.#text.line(this.line) === "";
  }

  get lastLine(): boolean {
    return this.line === this.#text.last;
  }

  get place(): Place {
    return { line: this.line, ch: this.ch };
  }

  /** One on: 2 when that is the end of the line, 1 in the next line, -1 when there is nothing. */
  on(): number {
    const line = this.#text.line(this.line);
    if (this.ch < line.length) {
      this.ch += width(line, this.ch);
      return this.ch < line.length ? 0 : 2;
    }
    if (this.lastLine) return -1;
    this.line++;
    this.ch = 0;
    return 1;
  }

  back(): number {
    if (this.ch > 0) {
      this.ch = before(this.#text.line(this.line), this.ch);
      return 0;
    }
    if (this.line === 0) return -1;
    this.line--;
    this.ch = this.#text.line(this.line).length;
    return 1;
  }

  /** Steps while the kind is this one; false at the end of the text. */
  skip(of: number, step: () => number): boolean {
    while (this.kind === of) if (step() === -1) return false;
    return true;
  }

  /** To where what is under it begins, in its line. */
  toStart(): void {
    const of = this.kind;
    while (this.ch > 0) {
      this.back();
      if (this.kind === of) continue;
      this.on();
      return;
    }
  }
}

/** Where a move ends, and whether there was all of it. */
export interface Moved extends Place {
  whole: boolean;
}

/** The start of the next word. For an operator, the last word of a line ends with it. */
export function nextWord(text: Lines, from: Place, count: number, big: boolean, operator: boolean): Moved {
  const at = new Walker(text, from, big);
  const ends = (whole: boolean) => ({ ...at.place, whole });
  while (--count >= 0) {
    const of = at.kind;
    const { lastLine } = at;
    let step = at.on();
    if (step === -1 || (step >= 1 && lastLine)) return ends(false);
    if (step >= 1 && operator && count === 0) return ends(true);
    if (of !== 0) {
      while (at.kind === of) {
        step = at.on();
        if (step === -1 || (step >= 1 && operator && count === 0)) return ends(true);
      }
    }
    while (at.kind === 0) {
      if (at.emptyLine) break;
      step = at.on();
      if (step === -1 || (step >= 1 && (lastLine || (operator && count === 0)))) return ends(true);
    }
  }
  return ends(true);
}

/** The end of this word or the next. `stay` counts a word at whose end one is; `blank` stops at empty lines. */
export function wordEnd(text: Lines, from: Place, count: number, big: boolean, stay: boolean, blank = false): Moved {
  const at = new Walker(text, from, big);
  const ends = (whole: boolean) => ({ ...at.place, whole });
  const step = () => at.on();
  words: while (--count >= 0) {
    const of = at.kind;
    if (at.on() === -1) return ends(false);
    if (at.kind === of && of !== 0) {
      if (!at.skip(of, step)) return ends(false);
    } else if (!stay || of === 0) {
      while (at.kind === 0) {
        if (blank && at.emptyLine) {
          stay = false;
          continue words;
        }
        if (at.on() === -1) return ends(false);
      }
      if (!at.skip(at.kind, step)) return ends(false);
    }
    at.back();
    stay = false;
  }
  return ends(true);
}

/** The start of this word or the one before. */
export function wordStart(text: Lines, from: Place, count: number, big: boolean): Moved {
  const at = new Walker(text, from, big);
  const ends = (whole: boolean) => ({ ...at.place, whole });
  words: while (--count >= 0) {
    if (at.back() === -1) return ends(false);
    while (at.kind === 0) {
      if (at.emptyLine) continue words;
      if (at.back() === -1) return ends(true);
    }
    if (!at.skip(at.kind, () => at.back())) return ends(true);
    at.on();
  }
  return ends(true);
}

/** The word under a place, or the blanks, with the blanks around it if `around`; the end belongs to it. */
export function wordObject(text: Lines, from: Place, around: boolean): { start: Place; end: Place } | undefined {
  const at = new Walker(text, from, false);
  at.toStart();
  let start = at.place;
  let end: Place;
  let white = false;
  if ((at.kind === 0) === around) {
    const moved = wordEnd(text, start, 1, false, true, true);
    if (!moved.whole) return undefined;
    end = moved;
  } else {
    const moved = new Walker(text, nextWord(text, start, 1, false, true), false);
    if (moved.ch === 0) {
      if (moved.back() === 1 && moved.ch > 0) moved.back();
    } else moved.back();
    end = moved.place;
    white = around;
  }
  if (white && new Walker(text, end, false).kind !== 0 && start.ch > 0) {
    const left = new Walker(text, start, false);
    left.back();
    left.toStart();
    if (left.kind === 0 && left.ch > 0) start = left.place;
  }
  return { start, end: { line: end.line, ch: end.ch } };
}
