// The rows of a conversation. Each row holds its own entry, so that text that grows redraws one row.
import type { Entry, EntryGrew } from "../../host/host";

export class Row {
  readonly id: string;
  readonly order: number;
  entry = $state.raw() as Entry;
  /** What the person chose; until then a row decides by itself. */
  open = $state.raw<boolean | undefined>();
  /** What the person makes of a message of theirs; undefined while they don't edit it. */
  edit = $state<string | undefined>();
  /** Whether what the log holds of it is shown. */
  raw = $state(false);
  /** Whether the row was just gone to, so that the eye finds it. */
  found = $state(false);

  constructor(entry: Entry) {
    this.id = entry.id;
    this.order = entry.order;
    this.entry = entry;
  }
}

/** The field of an entry that an event speaks of. */
function read(entry: Entry, field: string): string {
  if (field === "text") return entry.text ?? "";
  return (field === "input" ? entry.tool?.input : entry.tool?.output) ?? "";
}

function write(entry: Entry, field: string, value: string): Entry {
  if (field === "text") return { ...entry, text: value };
  if (!entry.tool) return entry;
  return { ...entry, tool: { ...entry.tool, [field]: value } };
}

/**
 * Appends what an event brings. Lengths are UTF-16 code units, as strings here count them. An event
 * that was merged from several may begin before our end; it is newer, so its text counts. The result
 * is false when text in between is missing.
 */
export function grow(row: Row, event: EntryGrew): boolean {
  const have = read(row.entry, event.field);
  if (event.at > have.length) return false;
  row.entry = write(row.entry, event.field, (event.at === have.length ? have : have.slice(0, event.at)) + event.text);
  return true;
}

/** Puts an entry into rows that are sorted by order. The same array comes back if none was added. */
export function place(rows: readonly Row[], entry: Entry): readonly Row[] {
  const last = rows[rows.length - 1];
  if (!last || last.order < entry.order) return [...rows, new Row(entry)];
  const known = findLast(rows, entry.id);
  if (known && known.order === entry.order) {
    known.entry = entry;
    return rows;
  }
  const others = rows.filter((row) => row.id !== entry.id);
  const at = others.findIndex((row) => row.order > entry.order);
  others.splice(at < 0 ? others.length : at, 0, new Row(entry));
  return others;
}

/** Events speak of the newest rows, so the search starts there. */
export function findLast(rows: readonly Row[], id: string): Row | undefined {
  for (let i = rows.length - 1; i >= 0; i--) if (rows[i]?.id === id) return rows[i];
  return undefined;
}
