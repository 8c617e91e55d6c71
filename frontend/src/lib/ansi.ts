// What a command writes for a terminal, as lines of coloured text. Colours become classes, carriage returns
// and moves within the line are obeyed, and every other control sequence is dropped: nothing that a command
// writes does more than show.

/** A run of characters of one look; its classes are separated by blanks, "" for none. */
export interface Span {
  text: string;
  look: string;
}
export interface Line {
  readonly spans: readonly Span[];
}

/** How many lines are kept; older ones go. */
export const linesMost = 2000;
/** How many characters of a line are kept. */
const columnsMost = 4000;
/** The longest control sequence, in characters; a longer one is text that lost its beginning. */
const sequenceMost = 4096;

interface Look {
  fg: string;
  bg: string;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
  strike: boolean;
}
const plain: Look = { fg: "", bg: "", bold: false, dim: false, italic: false, underline: false, inverse: false, strike: false };

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "hi-black", "hi-red", "hi-green", "hi-yellow", "hi-blue", "hi-magenta", "hi-cyan", "hi-white"] as const;
const rgb = [[0, 0, 0], [190, 50, 50], [40, 160, 70], [190, 140, 40], [60, 100, 210], [160, 70, 180], [40, 150, 170], [190, 190, 190], [110, 110, 110], [245, 100, 100], [100, 220, 130], [240, 210, 100], [120, 160, 255], [220, 130, 240], [110, 220, 230], [255, 255, 255]] as const;

/** The name nearest to a colour. */
function nearest(r: number, g: number, b: number): string {
  let best = 0;
  let least = Infinity;
  for (const [index, [x, y, z]] of rgb.entries()) {
    const far = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
    if (far < least) [best, least] = [index, far];
  }
  return names[best] ?? "";
}

function indexed(n: number): string {
  if (n < 16) return names[n] ?? "";
  if (n > 231) return nearest(8 + (n - 232) * 10, 8 + (n - 232) * 10, 8 + (n - 232) * 10);
  const part = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  return nearest(part(Math.floor((n - 16) / 36)), part(Math.floor((n - 16) / 6) % 6), part((n - 16) % 6));
}

/** Applies the parameters of an SGR sequence. */
function restyle(look: Look, params: string): Look {
  const next = { ...look };
  const list = params.split(/[;:]/).slice(0, 32).map((one) => (one === "" ? 0 : Number(one)));
  for (let i = 0; i < list.length; i++) {
    const n = list[i] ?? 0;
    if (n === 0) Object.assign(next, plain);
    else if (n === 1) next.bold = true;
    else if (n === 2) next.dim = true;
    else if (n === 3) next.italic = true;
    else if (n === 4) next.underline = true;
    else if (n === 7) next.inverse = true;
    else if (n === 9) next.strike = true;
    else if (n === 22) next.bold = next.dim = false;
    else if (n === 23) next.italic = false;
    else if (n === 24) next.underline = false;
    else if (n === 27) next.inverse = false;
    else if (n === 29) next.strike = false;
    else if (n >= 30 && n <= 37) next.fg = names[n - 30] ?? "";
    else if (n === 39) next.fg = "";
    else if (n >= 40 && n <= 47) next.bg = names[n - 40] ?? "";
    else if (n === 49) next.bg = "";
    else if (n >= 90 && n <= 97) next.fg = names[n - 82] ?? "";
    else if (n >= 100 && n <= 107) next.bg = names[n - 92] ?? "";
    else if (n === 38 || n === 48) {
      const to = n === 38 ? "fg" : "bg";
      if (list[i + 1] === 5) next[to] = indexed(Math.min(255, list[i + 2] ?? 0));
      if (list[i + 1] === 2) next[to] = nearest(list[i + 2] ?? 0, list[i + 3] ?? 0, list[i + 4] ?? 0);
      i += list[i + 1] === 5 ? 2 : 4;
    }
  }
  return next;
}

function classesOf(look: Look): string {
  const [fg, bg] = look.inverse ? [look.bg || "base", look.fg || "text"] : [look.fg, look.bg];
  const marks = [look.bold && "bold", look.dim && "dim", look.italic && "italic", look.underline && "under", look.strike && "strike"];
  return [fg && `fg-${fg}`, bg && `bg-${bg}`, ...marks].filter((one) => one).join(" ");
}

/** Reads output that grows at its end; lines that are complete stay the same objects. */
export class Ansi {
  #read = "";
  #lines: Line[] = [];
  #dropped = 0;
  #cells: { c: string; look: string }[] = [];
  #at = 0;
  #look = plain;
  #classes = "";
  #rest = "";

  /** How many lines were left out in front. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The lines of the output; the last one may still be written. */
  update(text: string): readonly Line[] {
    if (!text.startsWith(this.#read)) {
      [this.#lines, this.#dropped, this.#cells, this.#at, this.#look, this.#classes, this.#rest] = [[], 0, [], 0, plain, "", ""];
      this.#read = "";
    }
    const fresh = this.#rest + text.slice(this.#read.length);
    this.#rest = "";
    this.#read = text;
    this.#take(fresh);
    return this.#cells.length > 0 ? [...this.#lines, this.#line()] : [...this.#lines];
  }

  #take(text: string): void {
    // eslint-disable-next-line no-control-regex -- control sequences are what is looked for
    const sequence = /\u001b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-OQ-WYZ\\`-~])/y;
    for (let i = 0; i < text.length; ) {
      const code = text.charCodeAt(i);
      if (code === 0x1b) {
        sequence.lastIndex = i;
        const found = sequence.exec(text);
        if (!found) {
          // Its end may not have come yet.
          if (text.length - i < sequenceMost && !text.slice(i).includes("\n")) {
            this.#rest = text.slice(i);
            return;
          }
          i++;
          continue;
        }
        this.#obey(found[2], found[1] ?? "");
        i += found[0].length;
      } else if (code < 0x20 || code === 0x7f) {
        this.#control(code);
        i++;
      } else {
        const c = String.fromCodePoint(text.codePointAt(i) ?? 0x20);
        this.#put(c);
        i += c.length;
      }
    }
  }

  #obey(final: string | undefined, params: string): void {
    const n = Math.min(columnsMost, Number(params.split(";")[0]) || 0);
    if (final === "m" && !/[<-?]/.test(params)) {
      this.#look = restyle(this.#look, params);
      this.#classes = classesOf(this.#look);
    } else if (final === "K") {
      if (n === 0) this.#cells.length = Math.min(this.#at, this.#cells.length);
      else if (n === 2) this.#cells = [];
    } else if (final === "G") this.#at = Math.max(n, 1) - 1;
    else if (final === "C") this.#at = Math.min(columnsMost, this.#at + Math.max(n, 1));
    else if (final === "D") this.#at = Math.max(0, this.#at - Math.max(n, 1));
  }

  #control(code: number): void {
    if (code === 0x0a || code === 0x0b || code === 0x0c) {
      this.#lines.push(this.#line());
      this.#cells = [];
      this.#at = 0;
      const over = this.#lines.length - linesMost;
      if (over >= 200) {
        this.#lines.splice(0, over);
        this.#dropped += over;
      }
    } else if (code === 0x0d) this.#at = 0;
    else if (code === 0x08) this.#at = Math.max(0, this.#at - 1);
    else if (code === 0x09) this.#put("\t");
  }

  #put(c: string): void {
    if (this.#at >= columnsMost) return;
    while (this.#cells.length < this.#at) this.#cells.push({ c: " ", look: "" });
    this.#cells[this.#at++] = { c, look: this.#classes };
  }

  #line(): Line {
    const spans: Span[] = [];
    for (const { c, look } of this.#cells) {
      const last = spans.at(-1);
      if (last && last.look === look) last.text += c;
      else spans.push({ text: c, look });
    }
    return { spans };
  }
}
