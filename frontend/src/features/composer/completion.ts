// What can be completed at the cursor: a command, a symbol, or a file of the workspace.
import type { Model } from "../../host/host";
import { hintsFor } from "./slash";
import { openSymbol, symbolsFor } from "./symbols";

export interface Option {
  /** What the list shows: first what is written, then what it does. */
  label: string;
  note: string;
  /** What takes the place of what was typed. */
  by: string;
  /** Enter sends when this is all that was written. */
  whole?: boolean;
}

export interface Completion {
  kind: "command" | "symbol" | "file";
  from: number;
  to: number;
  options: Option[];
}

/** Where a file's name is being written behind an @. */
export interface FileQuery {
  from: number;
  to: number;
  query: string;
}

/** Commands and symbols at the cursor. */
export function completionAt(text: string, at: number, models: Model[], model: Model | undefined): Completion | undefined {
  const hints = hintsFor(text, models, model);
  if (hints.length > 0) return { kind: "command", from: 0, to: text.length, options: hints.map(({ text: by, note, whole }) => ({ label: by.trimEnd(), note, by, whole })) };
  const symbol = openSymbol(text.slice(0, at));
  if (!symbol) return undefined;
  const options = symbolsFor(symbol.name).map(([name, sign]) => ({ label: `${sign}  \\${name}`, note: "", by: sign }));
  return options.length > 0 ? { kind: "symbol", from: symbol.from, to: at, options } : undefined;
}

/** The longest query of a file, in characters. */
const longest = 200;

/** The file that is being named at the cursor: an @ behind a blank or an opening sign, and what follows. */
export function fileQuery(text: string, at: number): FileQuery | undefined {
  const before = text.slice(Math.max(0, at - longest), at);
  const match = /(?:^|[\s([{"'`])@("[^"\n]*|[^\s"@]*)$/.exec(before);
  if (match?.[1] === undefined) return undefined;
  return { from: at - match[1].length - 1, to: at, query: match[1].replace(/^"/, "") };
}

/** Files as options. A name with blanks or quotes is put between quotes. */
export function fileOptions(paths: readonly string[]): Option[] {
  return paths.map((path) => {
    const slash = path.lastIndexOf("/");
    const quoted = /[\s"'`()[\]{}\\]/.test(path) ? `@"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}" ` : `@${path} `;
    return { label: path.slice(slash + 1), note: slash < 0 ? "" : path.slice(0, slash), by: quoted };
  });
}
