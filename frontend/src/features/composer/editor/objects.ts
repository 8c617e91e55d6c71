// What stands between quotes or brackets in a line.

/** A part of a line; the end is behind it. */
export interface Part {
  from: number;
  to: number;
}

/** The string in quotes at a place, or the first one behind it in the line. */
export function quoted(line: string, at: number, quote: string, around: boolean): Part | undefined {
  const next = (from: number) => {
    for (let i = from; i < line.length; i++) {
      if (line[i] === "\\") i++;
      else if (line[i] === quote) return i;
    }
    return -1;
  };
  const previous = (from: number) => {
    for (let i = from - 1; i >= 0; i--) {
      if (line[i] !== quote) continue;
      let slashes = 0;
      while (line[i - 1 - slashes] === "\\") slashes++;
      if (slashes % 2 === 0) return i;
    }
    return -1;
  };
  let from: number;
  let to: number;
  if (line[at] === quote) {
    // Which of a pair it is, only the line from its start says.
    for (let first = 0; ; first = to + 1) {
      from = next(first);
      if (from < 0 || from > at) return undefined;
      to = next(from + 1);
      if (to < 0) return undefined;
      if (from <= at && at <= to) break;
    }
  } else {
    from = previous(at);
    if (from < 0) from = next(at);
    if (from < 0) return undefined;
    to = next(Math.max(from + 1, from < at ? at : 0));
    if (to < 0) return undefined;
  }
  if (!around) return { from: from + 1, to };
  let end = to + 1;
  while (/[ \t]/.test(line[end] ?? "")) end++;
  // The blanks before it, where there are none behind it.
  if (end === to + 1) while (/[ \t]/.test(line[from - 1] ?? "")) from--;
  return { from, to: end };
}

const pairs: Record<string, readonly [string, string]> = { "(": ["(", ")"], ")": ["(", ")"], "[": ["[", "]"], "]": ["[", "]"], "{": ["{", "}"], "}": ["{", "}"] };

/** What is between the brackets around a place of the line, or between the first ones behind it. */
export function bracketed(line: string, at: number, bracket: string, around: boolean): Part | undefined {
  const pair = pairs[bracket];
  if (!pair) return undefined;
  const [open, close] = pair;
  let from = -1;
  for (let i = at, depth = 0; i >= 0 && from < 0; i--) {
    if (line[i] === close && i !== at) depth++;
    else if (line[i] === open && depth-- === 0) from = i;
  }
  // Outside of any, the next one counts.
  if (from < 0) from = line.indexOf(open, at);
  if (from < 0) return undefined;
  for (let i = from + 1, depth = 0; i < line.length; i++) {
    if (line[i] === open) depth++;
    else if (line[i] === close && depth-- === 0) return around ? { from, to: i + 1 } : { from: from + 1, to: i };
  }
  return undefined;
}
