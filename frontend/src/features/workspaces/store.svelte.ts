// The workspaces, archived ones too, kept current.
import { createContext } from "svelte";
import type { Host, Workspace } from "../../host/host";
import { Collection } from "../../lib/collection.svelte";

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

  /** A project's workspaces, in the order of their creation, newest first: nothing moves under the pointer. */
  of(project: string): Workspace[] {
    return this.all.filter((one) => one.projectId === project && !one.archivedAt).sort(newest);
  }

  get archived(): Workspace[] {
    return this.all.filter((one) => one.archivedAt).sort(newest);
  }
}

function newest(a: Workspace, b: Workspace): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt) || a.name.localeCompare(b.name);
}

export const [useWorkspaces, provideWorkspaces] = createContext<Workspaces>();
