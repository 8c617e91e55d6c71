// The workspaces, archived ones too, kept current.
import { createContext } from "svelte";
import type { Host, Workspace } from "../../host/host";
import { Collection } from "../../lib/collection.svelte";
import { arranged, rowsOf, type TreeRow } from "./tree";

export class Workspaces extends Collection<Workspace> {
  constructor(host: Host) {
    super(() => host.api.workspaces.list({ archived: true }));
    host.listen({
      event: (event) => {
        if (event.name === "workspace.changed") this.put(event.data.workspace);
        if (event.name === "workspace.removed") this.remove(event.data.id);
      },
      reset: () => void this.refresh(),
    });
  }

  /** A project's workspaces as the sidebar shows them, without those that are pinned or archived. */
  of(project: string): Workspace[] {
    return this.tree(project).map((row) => row.workspace);
  }

  /** The same, with what belongs to what. */
  tree(project: string): TreeRow[] {
    return rowsOf(this.all.filter((one) => one.projectId === project));
  }

  /** What is kept above all projects. */
  get pinned(): Workspace[] {
    return this.all.filter((one) => one.pinned && !one.archivedAt).sort(arranged);
  }

  /** Everything that is not archived, from the top of the sidebar to its end. */
  inOrder(projects: { id: string }[]): Workspace[] {
    return [...this.pinned, ...projects.flatMap((project) => this.of(project.id))];
  }

  get archived(): Workspace[] {
    return this.all.filter((one) => one.archivedAt).sort(newest);
  }
}

function newest(a: Workspace, b: Workspace): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt) || a.name.localeCompare(b.name);
}

export const [useWorkspaces, provideWorkspaces] = createContext<Workspaces>();
