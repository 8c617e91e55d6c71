// Sequences of commands for holding our Vim mode against Vim: over the commands that docs/composer.md
// promises, from a seed.

/** A command of one go, and what is written in insert mode if it leads there. */
export interface Stroke {
  keys: string;
  /** Ends with <Esc>. */
  tail?: string;
}

/** A text, where the cursor begins, and commands. */
export interface Case {
  lines: string[];
  line: number;
  column: number;
  commands: Stroke[];
}

/** A random number below 1, from a seed: the same ones for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const words = ["one", "two", "x", "foo.bar", "a-b", "(in)", "f(x, y)", "[1]", "{ab}", "\"q r\"", "'s'", "don't", "end;", "--", "x=1", "été", "日本", "_a_b", "The", "if", "{ [x] }", "\"\"", "()", "\"a\" 'b'"];
const signs = [...'abefnorstwx.,;()[]{}"\'-_= 1'];
const typed = ["", "a", "new", "x y", "two\nlines", " ", "(z)", "é", "tail "];

class Maker {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = random(seed);
  }

  below(n: number): number {
    return Math.floor(this.#next() * n);
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  chance(of: number): boolean {
    return this.#next() < of;
  }

  count(): string {
    if (!this.chance(0.25)) return "";
    return this.chance(0.05) ? String(10 + this.below(200)) : String(1 + this.below(4));
  }

  line(): string {
    if (this.chance(0.12)) return this.chance(0.3) ? "   " : "";
    const indent = this.chance(0.25) ? " ".repeat(1 + this.below(4)) : "";
    return indent + Array.from({ length: 1 + this.below(5) }, () => this.one(words)).join(this.chance(0.2) ? "  " : " ") + (this.chance(0.1) ? " " : "");
  }

  motion(): string {
    const kind = this.below(10);
    if (kind < 2) return this.count() + this.one(["f", "F", "t", "T"]) + this.one(signs);
    if (kind < 3) return this.count() + this.one([";", ","]);
    if (kind < 4) return this.chance(0.5) ? this.count() + this.one(["gg", "G"]) : this.one(["gg", "G"]);
    if (kind < 5) return this.one(["0", "_", "$", "<Home>", "<End>", "2_", "2$"]);
    return this.count() + this.one(["h", "j", "k", "l", "w", "W", "b", "B", "e", "E"]);
  }

  object(): string {
    return this.one(["iw", "aw", 'i"', 'a"', "i'", "a'", "i(", "a(", "i[", "a[", "i{", "a{"]);
  }

  insertion(): string {
    return `${this.one(typed)}<Esc>`;
  }

  operation(): Stroke {
    const operator = this.one(["d", "c", "y"]);
    const keys = this.chance(0.25) ? this.count() + operator + operator : this.chance(0.35) ? operator + this.object() : this.count() + operator + this.motion();
    return operator === "c" ? { keys, tail: this.insertion() } : { keys };
  }

  visual(): Stroke[] {
    const moves = Array.from({ length: 1 + this.below(3) }, () => ({ keys: this.motion() }));
    const end = this.one(["d", "c", "y", "<Esc>"]);
    return [{ keys: this.one(["v", "V"]) }, ...moves, end === "c" ? { keys: "c", tail: this.insertion() } : { keys: end }];
  }

  command(): Stroke[] {
    const kind = this.below(20);
    if (kind < 5) return [{ keys: this.motion() }];
    if (kind < 10) return [this.operation()];
    if (kind < 12) return [{ keys: this.one(["i", "a", "I", "A", "o", "O"]), tail: this.insertion() }];
    if (kind < 13) return [{ keys: this.count() + this.one(["x", "~"]) }];
    if (kind < 15) return [{ keys: this.one(["p", "P"]) }];
    if (kind < 16) return [this.chance(0.5) ? { keys: "D" } : { keys: "C", tail: this.insertion() }];
    if (kind < 17) return [{ keys: this.one(["u", "u", "<C-r>"]) }];
    if (kind < 18) return [{ keys: "." }];
    return this.visual();
  }

  make(): Case {
    const lines = Array.from({ length: 1 + this.below(6) }, () => this.line());
    const line = this.below(lines.length);
    const column = this.below(Math.max(1, [...(lines[line] ?? "")].length));
    return { lines, line, column, commands: Array.from({ length: 3 + this.below(6) }, () => this.command()).flat() };
  }
}

/** One case of a seed. */
export function makeCase(seed: number): Case {
  return new Maker(seed).make();
}

/** The keys of a command, each as Vim writes it. */
export function keysOf(command: string): string[] {
  return command.match(/<(?:Esc|C-r|Home|End)>|[\s\S]/gu) ?? [];
}
