// The order in which the sidebar shows workspaces; the core keeps what the person arranged
// (workspaces/arrange.go has the same rules).
import type { Workspace } from "../../host/host";

/** A row of the sidebar. */
export interface TreeRow {
  workspace: Workspace;
  /** How many workspaces it belongs to, one inside the other. */
  depth: number;
  /** The workspaces that belong to it, at any depth. */
  inside: Workspace[];
}

/** Those that nobody placed come first, the newest at the top: nothing moves under the pointer. */
export function arranged(a: Workspace, b: Workspace): number {
  return a.position - b.position || Date.parse(b.createdAt) - Date.parse(a.createdAt) || a.name.localeCompare(b.name);
}

/** The rows of one project: its workspaces that are neither pinned nor archived, each before those that belong to it. */
export function rowsOf(workspaces: Workspace[]): TreeRow[] {
  const here = new Map(workspaces.filter((one) => !one.archivedAt && !one.pinned).map((one) => [one.id, one]));
  const children = new Map<string, Workspace[]>();
  for (const one of here.values()) {
    const parent = one.parent && here.has(one.parent) && !belongsTo(one.parent, one.id, here) ? one.parent : "";
    children.set(parent, [...(children.get(parent) ?? []), one]);
  }
  const rows: TreeRow[] = [];
  const add = (parent: string, depth: number): Workspace[] => {
    const all: Workspace[] = [];
    for (const workspace of (children.get(parent) ?? []).sort(arranged)) {
      const row: TreeRow = { workspace, depth, inside: [] };
      rows.push(row);
      row.inside = add(workspace.id, depth + 1);
      all.push(workspace, ...row.inside);
    }
    return all;
  };
  add("", 0);
  return rows;
}

/** Whether a workspace belongs to another, at any depth. */
function belongsTo(id: string, other: string, here: Map<string, Workspace>): boolean {
  const seen = new Set<string>();
  for (let at: string | undefined = id; at && !seen.has(at); at = here.get(at)?.parent) {
    if (at === other) return true;
    seen.add(at);
  }
  return false;
}

/** Without the rows that are inside of a folded one. */
export function unfolded(rows: TreeRow[], folded: { has(id: string): boolean }): TreeRow[] {
  const hidden = new Set(rows.filter((row) => folded.has(row.workspace.id)).flatMap((row) => row.inside.map((one) => one.id)));
  return rows.filter((row) => !hidden.has(row.workspace.id));
}
