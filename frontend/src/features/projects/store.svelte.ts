// The projects, kept current.
import { createContext } from "svelte";
import type { Host, Project } from "../../host/host";
import { Collection } from "../../lib/collection.svelte";

export class Projects extends Collection<Project> {
  constructor(host: Host) {
    super(() => host.api.projects.list());
    host.listen({
      event: (event) => {
        if (event.name === "project.changed") this.put(event.data.project);
        if (event.name === "project.removed") this.remove(event.data.id);
      },
      reset: () => void this.refresh(),
    });
  }

  /** Those that the person placed in that order, then the others by name. */
  get sorted(): Project[] {
    const rank = (one: Project) => one.position || Infinity;
    return this.all.sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)) || a.name.localeCompare(b.name, undefined, { sensitivity: "base" }) || a.path.localeCompare(b.path));
  }
}

export const [useProjects, provideProjects] = createContext<Projects>();
