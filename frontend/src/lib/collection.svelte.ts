// The one store helper: a snapshot plus update events. Views derive from `all` and never copy.
import { SvelteMap } from "svelte/reactivity";
import { sentence } from "../host/host";

/** Something with an identity and a revision that grows with every change. */
export interface Versioned {
  id: string;
  rev: number;
}

/** Where a collection stands. */
export type Loading = { kind: "loading" } | { kind: "ready" } | { kind: "failed"; message: string };

/** Things of one kind, kept current. */
export class Collection<T extends Versioned> {
  #items = new SvelteMap<string, T>();
  #load: () => Promise<T[]>;
  /** Ids that went away while a snapshot was under way; the snapshot may still hold them. */
  #gone: Set<string> | undefined;
  #run = 0;
  state = $state.raw<Loading>({ kind: "loading" });

  constructor(load: () => Promise<T[]>) {
    this.#load = load;
  }

  /** Everything, in no order. */
  get all(): T[] {
    return [...this.#items.values()];
  }

  get(id: string): T | undefined {
    return this.#items.get(id);
  }

  /**
   * Takes the snapshot; what is shown stays until it is there. It may come from a core that was
   * started again and counts its revisions anew, so only what came since it was asked for is compared.
   */
  async refresh(): Promise<void> {
    const run = ++this.#run;
    this.#gone = new Set();
    try {
      const items = (await this.#load()) ?? [];
      if (run !== this.#run) return;
      const gone = this.#gone;
      const present = new Set(items.map((item) => item.id));
      for (const old of this.#items.values()) {
        if (!present.has(old.id) && !this.#newSince.has(old.id)) this.#items.delete(old.id);
      }
      for (const item of items) {
        if (this.#newSince.has(item.id)) this.put(item);
        else if (!gone.has(item.id)) this.#items.set(item.id, item);
      }
      this.state = { kind: "ready" };
    } catch (error) {
      if (run === this.#run && this.state.kind !== "ready") this.state = { kind: "failed", message: sentence(error) };
    } finally {
      if (run === this.#run) {
        this.#gone = undefined;
        this.#newSince.clear();
      }
    }
  }

  /** Ids that came by an event while a snapshot was under way; it may not hold them yet. */
  #newSince = new Set<string>();

  /** Takes a new or changed item, unless a newer one is here already. */
  put(item: T): void {
    const first = this.#gone !== undefined && !this.#newSince.has(item.id);
    if (this.#gone) {
      this.#newSince.add(item.id);
      this.#gone.delete(item.id);
    }
    const old = this.#items.get(item.id);
    if (!first && old && old.rev > item.rev) return;
    this.#items.set(item.id, item);
  }

  remove(id: string): void {
    this.#gone?.add(id);
    this.#newSince.delete(id);
    this.#items.delete(id);
  }
}
