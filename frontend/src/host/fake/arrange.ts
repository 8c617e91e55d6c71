// How the fake core keeps the order of projects and workspaces; the real one is workspaces/arrange.go.
import { CallError, type Workspace } from "../host";

/** Puts a thing before another one and numbers all anew. */
export function arrange<T extends { id: string; position: number }>(all: T[], id: string, before: string | undefined, put: (one: T) => void, otherwise: (a: T, b: T) => number, unplaced = 0): void {
  const row = all.sort((a, b) => rank(a, unplaced) - rank(b, unplaced) || otherwise(a, b)).map((one) => one.id).filter((one) => one !== id);
  const at = before ? row.indexOf(before) : row.length;
  if (at < 0) throw new CallError("not_found", "It is not there any more.");
  row.splice(at, 0, id);
  for (const one of all) {
    const position = row.indexOf(one.id) + 1;
    if (one.position !== position) put({ ...one, position });
  }
}

/** Where those come that nobody placed: first with 0, last with a great number. */
const rank = (one: { position: number }, unplaced: number) => one.position || unplaced;

/** Whether two workspaces are arranged in one row. */
export function siblings(one: Workspace, self: Workspace, all: Map<string, Workspace>): boolean {
  const parent = (workspace: Workspace) => {
    const up = all.get(workspace.parent ?? "");
    return up && !up.archivedAt && !up.pinned && up.projectId === workspace.projectId ? up.id : "";
  };
  if (one.archivedAt || (one.pinned ?? false) !== (self.pinned ?? false)) return false;
  return one.pinned === true || (one.projectId === self.projectId && parent(one) === parent(self));
}
