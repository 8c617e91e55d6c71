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

  get sorted(): Project[] {
    return this.all.sort((a, b) => a.name.localeCompare(b.name, undefined, { sensitivity: "base" }) || a.path.localeCompare(b.path));
  }
}

export const [useProjects, provideProjects] = createContext<Projects>();
