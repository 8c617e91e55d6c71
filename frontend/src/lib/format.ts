// How numbers, times and paths are written.

/** A duration in words as short as they get: 0.4 s, 12 s, 3 min, 2 h. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(1, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}

/** How long ago, as the sidebar shows it: now, 4m, 3h, 2d, 5w. */
export function ago(time: string, now: number): string {
  const ms = now - Date.parse(time);
  if (!Number.isFinite(ms)) return "";
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h`;
  const days = Math.floor(hours / 24);
  return days < 14 ? `${days}d` : `${Math.floor(days / 7)}w`;
}

/** A full date and time in the person's language. */
export function fullTime(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** A count with its noun. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** A number of tokens: 940, 12.4k, 1.2M. */
export function tokens(n: number): string {
  if (n < 1000) return String(n);
  if (n < 100_000) return `${(n / 1000).toFixed(1)}k`;
  if (n < 1_000_000) return `${Math.round(n / 1000)}k`;
  return `${(n / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
}

/** Dollars: $0.42, $1,204; less than a cent is said so. */
export function usd(n: number): string {
  if (n > 0 && n < 0.005) return "<$0.01";
  const digits = n < 1000 ? 2 : 0;
  return `$${n.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** A price per million tokens, with as many digits as it has: $3, $0.25. */
export function price(n: number): string {
  return `$${n.toLocaleString("en", { maximumFractionDigits: 3 })}`;
}

/** Bytes: 812 B, 4.1 KB, 12 MB. */
export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(1)} KB`;
  return `${Math.round(n / 1024 / 1024)} MB`;
}

/** A path with the person's home as ~. */
export function homePath(path: string, home: string): string {
  if (home === "") return path;
  if (path === home) return "~";
  return path.startsWith(home + "/") ? "~" + path.slice(home.length) : path;
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.replace(/\/+$/, "").split("/").pop() || path;
}

// Characters that show as nothing and change how the text around them reads: controls but for tab and
// line end, marks and overrides of the writing direction, spaces without width.
// eslint-disable-next-line no-control-regex -- they are what is looked for
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Text of a repository or a model for a place where the person decides by it, such as a file's name or a
 * command: characters that could make it read as another text are shown by their number.
 */
export function visible(text: string): string {
  return text.replace(unseen, (c) => `‹U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}

/** Lines of a list as a person writes it, without empty ones. */
export function lines(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}
