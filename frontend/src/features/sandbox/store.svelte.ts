// What confines the commands of workspaces, kept up to date for the few that are looked at.
import { createContext, untrack } from "svelte";
import type { AllowScope, Host, NetworkDecisions, Quarantined, SandboxPlan, SandboxStatus } from "../../host/host";
import { sentence } from "../../host/host";
import { once } from "./once";

const kept = 4;

/** One workspace's sandbox. */
export class Sandbox {
  #host: Host;
  readonly workspace: string;
  status = $state.raw<SandboxStatus | undefined>();
  /** Why the newest status is not known. */
  problem = $state("");
  plan = $state.raw<SandboxPlan | undefined>();
  planProblem = $state("");
  network = $state.raw<NetworkDecisions>({ list: [], next: [] });
  quarantine = $state.raw<Quarantined[]>([]);
  #watchers = 0;

  readonly ask: () => Promise<void>;
  readonly askPlan: () => Promise<void>;
  readonly askEvents: () => Promise<void>;

  constructor(host: Host, workspace: string) {
    this.#host = host;
    this.workspace = workspace;
    const { sandbox } = host.api;
    const id = { id: workspace };
    this.ask = once(async () => {
      try {
        this.status = await sandbox.status(id);
        this.problem = "";
      } catch (error) {
        this.problem = sentence(error);
      }
    });
    this.askPlan = once(async () => {
      try {
        this.plan = await sandbox.plan(id);
        this.planProblem = "";
      } catch (error) {
        this.planProblem = sentence(error);
      }
    });
    this.askEvents = once(async () => {
      try {
        [this.network, this.quarantine] = await Promise.all([sandbox.decisions(id), sandbox.quarantine(id)]);
      } catch {
        // The next change asks again; a broken link has its own notice.
      }
    });
  }

  /** Says that a panel shows all of it; the result ends that. */
  watch(): () => void {
    this.#watchers++;
    this.refresh();
    return () => void this.#watchers--;
  }

  refresh(): void {
    void this.ask();
    if (this.#watchers === 0) return;
    void this.askPlan();
    void this.askEvents();
  }

  async allow(host: string, scope: AllowScope): Promise<void> {
    await this.#host.api.sandbox.allow({ workspace: this.workspace, host, scope });
    await this.askEvents();
  }

  async set(on: boolean): Promise<void> {
    await this.#host.api.sandbox.set({ workspace: this.workspace, on });
    this.refresh();
    await this.ask();
  }

  async restore(id: string): Promise<void> {
    await this.#host.api.sandbox.restore({ workspace: this.workspace, id });
    await this.askEvents();
  }
}

/** The sandboxes that are at hand. */
export class Sandboxes {
  #host: Host;
  #open = new Map<string, Sandbox>();

  constructor(host: Host) {
    this.#host = host;
    host.listen({
      event: (event) => {
        if (event.name === "sandbox.changed") this.#open.get(event.data.workspace)?.refresh();
        else if (event.name === "settings.changed") this.#all();
        else if (event.name === "workspace.removed") this.#open.delete(event.data.id);
      },
      reset: () => this.#all(),
    });
  }

  of(workspace: string): Sandbox {
    return untrack(() => {
      const found = this.#open.get(workspace) ?? new Sandbox(this.#host, workspace);
      this.#open.delete(workspace);
      this.#open.set(workspace, found);
      for (const id of this.#open.keys()) {
        if (this.#open.size <= kept) break;
        this.#open.delete(id);
      }
      return found;
    });
  }

  #all(): void {
    for (const one of this.#open.values()) one.refresh();
  }
}

export const [useSandboxes, provideSandboxes] = createContext<Sandboxes>();
