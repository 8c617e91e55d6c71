// The tour of a first run: a sample project, a workspace on the demo model, and five things to see there.
import { createContext } from "svelte";
import type { Activity, Host } from "../../host/host";
import type { Shell } from "../../lib/shell.svelte";
import type { Projects } from "../projects/index";
import type { Settings } from "../settings/index";
import type { Workspaces } from "../workspaces/index";
import { isWorking } from "../workspaces/index";

export type Step = "desk" | "ask" | "watch" | "review" | "yours";
export const steps: readonly Step[] = ["desk", "ask", "watch", "review", "yours"];

/** What the tour has the person ask. */
export const question = "Say in the README who keeps this harbor, and commit it.";

const KEY = "carrel.tour";

interface Stores {
  projects: Projects;
  workspaces: Workspaces;
  settings: Settings;
  shell: Shell;
  suggest: (workspace: string, text: string) => void;
}

export class Tour {
  #host: Host;
  #stores: Stores;
  #storage: Storage;
  /** The workspace that it is in; "" while there is none. */
  workspace = $state("");
  step = $state<Step>("desk");
  starting = $state(false);

  constructor(host: Host, stores: Stores, storage: Storage) {
    this.#host = host;
    this.#stores = stores;
    this.#storage = storage;
    const [workspace = "", step] = (storage.getItem(KEY) ?? "").split(" ");
    const known = steps.find((one) => one === step);
    if (workspace && known) {
      this.workspace = workspace;
      this.step = known;
    }
  }

  get number(): number {
    return steps.indexOf(this.step) + 1;
  }

  /** Makes the sample and a workspace of it, and begins. It fails with the core's error. */
  async start(): Promise<void> {
    if (this.starting) return;
    this.starting = true;
    try {
      const { projects, workspaces, settings, shell } = this.#stores;
      const project = await this.#host.api.projects.sample();
      projects.put(project);
      const demo = settings.models.find((model) => model.demo);
      const made = await this.#host.api.workspaces.create({ projectId: project.id, title: "Look around", ...(demo ? { model: demo.id } : {}) });
      workspaces.put(made);
      shell.select(made.id);
      this.#go(made.id, "desk");
    } finally {
      this.starting = false;
    }
  }

  next(): void {
    const to = steps[steps.indexOf(this.step) + 1];
    if (to) this.#go(this.workspace, to);
    else this.end();
  }

  back(): void {
    const to = steps[steps.indexOf(this.step) - 1];
    if (to) this.#go(this.workspace, to);
  }

  end(): void {
    this.workspace = "";
    this.#storage.removeItem(KEY);
  }

  /** Goes on by itself when the person does what a step asks for. */
  follow(activity: Activity, messages: boolean): void {
    if (this.step === "ask" && isWorking(activity)) this.next();
    else if (this.step === "watch" && messages && !isWorking(activity)) this.next();
  }

  #go(workspace: string, step: Step): void {
    this.workspace = workspace;
    this.step = step;
    this.#storage.setItem(KEY, `${workspace} ${step}`);
    if (step === "ask") this.#stores.suggest(workspace, question);
    if (step === "review") this.#stores.shell.rightTab = "changes";
  }
}

export const [useTour, provideTour] = createContext<Tour>();
