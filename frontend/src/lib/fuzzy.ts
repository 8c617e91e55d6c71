// Finding things by some of their letters, best first.

export interface Match<T> {
  item: T;
  score: number;
  /** Which characters of the text were found, for showing them. */
  marks: ReadonlySet<number>;
}

/** Characters beyond these are neither searched nor marked. */
const longest = 400;

/**
 * How well the text fits what was typed: each word of it must be there, as a whole, at the start of words,
 * or, where that is wanted, letter by letter. Undefined when it does not fit. A score is at most 1 for each character typed.
 */
export function fuzzy(query: string, text: string, scattered = true): { score: number; marks: Set<number> } | undefined {
  const marks = new Set<number>();
  const lower = text.slice(0, longest).toLowerCase();
  let score = 0;
  for (const word of query.toLowerCase().split(/\s+/)) {
    if (word === "") continue;
    const found = whole(word, lower) ?? (scattered ? spread(word, text.slice(0, longest), lower) : undefined);
    if (!found) return undefined;
    score += found.score;
    for (const at of found.at) marks.add(at);
  }
  return { score, marks };
}

/** The word in one piece. */
function whole(word: string, lower: string): { score: number; at: number[] } | undefined {
  let best: { score: number; at: number[] } | undefined;
  for (let from = lower.indexOf(word); from >= 0; from = lower.indexOf(word, from + 1)) {
    const begins = from === 0 || isGap(lower[from - 1]);
    const ends = from + word.length === lower.length || isGap(lower[from + word.length]);
    // The start of the text and of words counts most; a whole word more than a part.
    const score = word.length * ((begins ? 0.9 : 0.6) + (begins && ends ? 0.06 : 0) + (from === 0 ? 0.04 : 0));
    if (!best || score > best.score) best = { score, at: Array.from(word, (_, i) => from + i) };
  }
  return best;
}

/** The letters of the word one after the other, first as starts of words, such as "nw" of "New workspace". */
function spread(word: string, text: string, lower: string): { score: number; at: number[] } | undefined {
  return walk(word, lower, (at) => at === 0 || isGap(lower[at - 1]) || isHump(text, at), 0.8) ?? (word.length < 2 ? undefined : walk(word, lower, () => true, 0.3));
}

function walk(word: string, lower: string, may: (at: number) => boolean, worth: number): { score: number; at: number[] } | undefined {
  const at: number[] = [];
  let from = 0;
  for (const letter of word) {
    let next = lower.indexOf(letter, from);
    // Letters that follow the one before need no start of a word.
    while (next >= 0 && !(may(next) || (at.length > 0 && next === (at.at(-1) ?? 0) + 1))) next = lower.indexOf(letter, next + 1);
    if (next < 0) return undefined;
    at.push(next);
    from = next + letter.length;
  }
  const reach = (at.at(-1) ?? 0) - (at[0] ?? 0) + 1;
  return { score: word.length * worth * (0.5 + (0.5 * word.length) / reach), at };
}

const isGap = (letter: string | undefined) => letter === undefined || !/[\p{L}\p{N}]/u.test(letter);
const isHump = (text: string, at: number) => /\p{Lu}/u.test(text[at] ?? "") && /\p{Ll}/u.test(text[at - 1] ?? "");

export interface Searched<T> {
  /** What is shown and marked. */
  text: (item: T) => string;
  /** What else finds it, for less. */
  more?: (item: T) => string;
  /** From 0 to 1: how lately it was used. It decides between what fits about as well. */
  recency?: (item: T) => number;
}

/** What fits, best first; with nothing typed everything, what was used last first. */
export function rank<T>(items: readonly T[], query: string, { text, more, recency }: Searched<T>): Match<T>[] {
  const length = Math.max(1, query.replace(/\s+/g, "").length);
  const found: Match<T>[] = [];
  for (const item of items) {
    const direct = fuzzy(query, text(item));
    const match = direct ?? (more && fuzzy(query, `${text(item)} ${more(item)}`, false));
    if (!match) continue;
    const fit = (match.score / length) * (direct ? 1 : 0.7);
    const shown = text(item).length;
    found.push({ item, score: fit + 0.05 * (recency?.(item) ?? 0), marks: direct ? match.marks : new Set([...match.marks].filter((at) => at < shown)) });
  }
  // Sorting is stable: what fits the same stays in its order.
  return found.sort((a, b) => b.score - a.score);
}
