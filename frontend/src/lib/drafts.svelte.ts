// What the person has written and not sent, per workspace. The core keeps it: a moment after the last
// change, when the composer is left, and when the page goes away.
import { createContext } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import type { Host } from "../host/host";

/** How long after the last change a draft is kept, in milliseconds. */
const wait = 500;

interface Kept {
  /** What the core has, as far as this page knows. */
  saved: string;
  /** Grows with each change here, so that a snapshot from before it is not taken for newer. */
  changes: number;
  timer?: ReturnType<typeof setTimeout> | undefined;
}

export class Drafts {
  #host: Host;
  #texts = new SvelteMap<string, string>();
  #kept = new Map<string, Kept>();
  /** Grows when something else filled a draft, so that the composer takes the focus. */
  suggested = $state(0);

  constructor(host: Host) {
    this.#host = host;
    host.listen({
      connection: (state) => {
        if (state.kind === "online") this.flushAll();
      },
      event: (event) => {
        if (event.name === "workspace.removed") this.#forget(event.data.id);
      },
    });
  }

  get(workspace: string): string {
    return this.#texts.get(workspace) ?? "";
  }

  set(workspace: string, text: string): void {
    const kept = this.#of(workspace);
    kept.changes++;
    this.#texts.set(workspace, text);
    clearTimeout(kept.timer);
    kept.timer = setTimeout(() => void this.flush(workspace), wait);
  }

  /** Empties the box of a message that is on its way. The core forgets it with the next flush. */
  take(workspace: string): string {
    const kept = this.#of(workspace);
    const text = this.get(workspace);
    kept.changes++;
    clearTimeout(kept.timer);
    this.#texts.set(workspace, "");
    return text;
  }

  /** Fills the draft; what was written stays above. */
  suggest(workspace: string, text: string): void {
    const before = this.get(workspace).trim();
    this.set(workspace, before ? `${before}\n${text}` : text);
    this.suggested++;
  }

  /** How often the draft was changed here; `load` takes it. */
  changes(workspace: string): number {
    return this.#of(workspace).changes;
  }

  /** Takes what the core keeps, unless the person wrote something since it was asked. */
  load(workspace: string, text: string, since: number): void {
    const kept = this.#of(workspace);
    if (kept.changes !== since || this.get(workspace) !== kept.saved) return;
    kept.saved = text;
    if (this.get(workspace) !== text) this.#texts.set(workspace, text);
  }

  /** Hands the draft to the core now. One that it does not take is handed over again later. */
  async flush(workspace: string): Promise<void> {
    const kept = this.#of(workspace);
    clearTimeout(kept.timer);
    const text = this.get(workspace);
    const before = kept.saved;
    if (text === before) return;
    kept.saved = text;
    try {
      await this.#host.api.conversations.setDraft({ workspace, text });
    } catch {
      if (kept.saved === text) kept.saved = before;
    }
  }

  /** Hands every draft to the core that it does not have. */
  flushAll(): void {
    for (const workspace of this.#kept.keys()) void this.flush(workspace);
  }

  #of(workspace: string): Kept {
    let kept = this.#kept.get(workspace);
    if (!kept) this.#kept.set(workspace, (kept = { saved: "", changes: 0 }));
    return kept;
  }

  #forget(workspace: string): void {
    clearTimeout(this.#kept.get(workspace)?.timer);
    this.#kept.delete(workspace);
    this.#texts.delete(workspace);
  }
}

export const [useDrafts, provideDrafts] = createContext<Drafts>();
