// Sums of what was spent. They are asked for again when something was spent, one question at a time.
import type { CostQuery, CostSummary, Host } from "../../host/host";
import { sentence } from "../../host/host";
import type { Loading } from "../../lib/collection.svelte";

export class Costs {
  #host: Host;
  #next: CostQuery | undefined;
  #asking = false;
  state = $state.raw<Loading>({ kind: "loading" });
  /** The newest answer, and what it is an answer to. */
  summary = $state.raw<CostSummary | undefined>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Asks; a newer question takes the place of one that waits. */
  async ask(query: CostQuery): Promise<void> {
    this.#next = query;
    if (this.#asking) return;
    this.#asking = true;
    try {
      while (this.#next) {
        const asked: CostQuery = this.#next;
        this.#next = undefined;
        try {
          const answer = await this.#host.api.costs.summary(asked);
          if (this.#next) continue;
          this.summary = answer;
          this.state = { kind: "ready" };
        } catch (error) {
          if (!this.#next) this.state = { kind: "failed", message: sentence(error) };
        }
      }
    } finally {
      this.#asking = false;
    }
  }
}
