// The conversations that are kept at hand: the newest few stay joined, so that going back to one is
// instant.
import { createContext, untrack } from "svelte";
import type { Host } from "../../host/host";
import type { Drafts } from "../../lib/drafts.svelte";
import { Conversation } from "./store.svelte";

const kept = 4;

export class Desk {
  #host: Host;
  #drafts: Drafts;
  #open = new Map<string, Conversation>();

  constructor(host: Host, drafts: Drafts) {
    this.#host = host;
    this.#drafts = drafts;
    host.listen({
      event: (event) => {
        if (event.name === "workspace.removed") this.#close(event.data.id);
      },
    });
  }

  /** The workspace's conversation; opened if it is not at hand. */
  of(workspace: string): Conversation {
    return untrack(() => {
      const conversation = this.#open.get(workspace) ?? new Conversation(this.#host, workspace, this.#drafts);
      this.#open.delete(workspace);
      this.#open.set(workspace, conversation);
      for (const [id, old] of this.#open) {
        // A message that could not be sent yet keeps its conversation.
        if (this.#open.size <= kept) break;
        if (id !== workspace && old.outbox.list.length === 0) this.#close(id);
      }
      return conversation;
    });
  }

  #close(workspace: string): void {
    this.#open.get(workspace)?.dispose();
    this.#open.delete(workspace);
  }
}

export const [useDesk, provideDesk] = createContext<Desk>();
