// Putting projects and workspaces into another order, by the mouse, by keys and from their menus.
import type { Host } from "../../host/host";
import { Sorting, stepTo } from "../../lib/sorting.svelte";
import type { Toasts } from "../../ui/toasts.svelte";
import type { Projects, Step } from "../projects/index";
import type { Workspaces } from "./store.svelte";

interface Reach {
  host: Host;
  toasts: Toasts;
  projects: Projects;
  workspaces: Workspaces;
}

export class Arranging {
  readonly sorting = new Sorting((list, id, before) => void this.#move(list, id, before));
  /** Said to those who do not see it. */
  said = $state("");
  #reach: Reach;

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  /** The list in which a workspace is arranged, by name; "" for one that is archived. */
  listOf(id: string): string {
    const { workspaces } = this.#reach;
    const one = workspaces.get(id);
    if (!one || one.archivedAt) return "";
    if (one.pinned) return "pinned";
    const up = workspaces.get(one.parent ?? "");
    const parent = up && !up.archivedAt && !up.pinned && up.projectId === one.projectId ? up.id : "";
    return `in:${one.projectId}:${parent}`;
  }

  /** Moves a thing one place up or down, unless it is at the end of its list. */
  step(list: string, id: string): Step {
    return (by) => {
      const to = stepTo(this.#ids(list), id, by);
      return to && (() => void this.#move(list, id, to.before));
    };
  }

  #ids(list: string): string[] {
    const { projects, workspaces } = this.#reach;
    if (list === "projects") return projects.sorted.map((one) => one.id);
    if (list === "pinned") return workspaces.pinned.map((one) => one.id);
    const project = list.split(":")[1] ?? "";
    return workspaces.of(project).filter((one) => this.listOf(one.id) === list).map((one) => one.id);
  }

  async #move(list: string, id: string, before: string | undefined): Promise<void> {
    const { host, toasts, projects, workspaces } = this.#reach;
    const args = { id, ...(before === undefined ? {} : { before }) };
    try {
      await (list === "projects" ? host.api.projects.move(args) : host.api.workspaces.move(args));
      const ids = this.#ids(list).filter((one) => one !== id);
      const at = before === undefined ? ids.length : ids.indexOf(before);
      const name = list === "projects" ? projects.get(id)?.name : workspaces.get(id)?.title;
      this.said = `${name ?? "It"} is ${at + 1} of ${ids.length + 1} now`;
    } catch (error) {
      toasts.problem(error);
    }
  }

  /** What a row shows of a drag. */
  mark(list: string, id: string): "before" | "after" | undefined {
    const { dragged, over, after } = this.sorting;
    if (dragged === "" || over !== id || dragged === id) return undefined;
    return this.#inList(list, dragged) ? (after ? "after" : "before") : undefined;
  }

  #inList(list: string, id: string): boolean {
    return list === "projects" ? this.#reach.projects.get(id) !== undefined : this.listOf(id) === list;
  }
}
