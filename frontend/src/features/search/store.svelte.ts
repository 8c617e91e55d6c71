// Finding words in all conversations. What was asked last counts; an answer to something older is dropped.
import type { Hit, Host } from "../../host/host";
import { sentence } from "../../host/host";

/** How long after the last key it is asked, in milliseconds. */
const pause = 200;
/** How often it is asked again while older conversations are being read, in milliseconds. */
const again = 2000;
const page = 30;

export class Search {
  #host: Host;
  #run = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  text = $state.raw("");
  hits = $state.raw<Hit[]>([]);
  more = $state(false);
  /** Whether conversations wait to be read before they can be searched. */
  behind = $state(false);
  /** Whether an answer is under way. */
  busy = $state(false);
  /** What the hits are an answer to; undefined before the first. */
  answered = $state.raw<string | undefined>();
  problem = $state.raw("");

  constructor(host: Host) {
    this.#host = host;
  }

  /** Asks for a text, a moment after the last key. */
  type(text: string): void {
    this.text = text;
    clearTimeout(this.#timer);
    const run = ++this.#run;
    if (text.trim() === "") {
      this.#clear();
      return;
    }
    this.busy = true;
    this.#timer = setTimeout(() => void this.#ask(run), pause);
  }

  /** Asks for older hits. */
  async older(): Promise<void> {
    const last = this.hits.at(-1);
    if (!last || this.busy) return;
    const run = this.#run;
    this.busy = true;
    try {
      const found = await this.#host.api.search.find({ text: this.text, before: last.id, limit: page });
      if (run !== this.#run) return;
      this.hits = [...this.hits, ...(found.hits ?? [])];
      this.more = found.more ?? false;
    } catch (error) {
      if (run === this.#run) this.problem = sentence(error);
    } finally {
      if (run === this.#run) this.busy = false;
    }
  }

  dispose(): void {
    this.#run++;
    clearTimeout(this.#timer);
  }

  async #ask(run: number): Promise<void> {
    const { text } = this;
    try {
      const found = await this.#host.api.search.find({ text, limit: page });
      if (run !== this.#run) return;
      this.problem = "";
      this.behind = (found.behind ?? 0) > 0;
      // Someone who reads older hits keeps them.
      if (this.answered !== text || this.hits.length <= page) {
        this.hits = found.hits ?? [];
        this.more = found.more ?? false;
      }
      this.answered = text;
      if (this.behind) this.#timer = setTimeout(() => void this.#ask(run), again);
    } catch (error) {
      if (run !== this.#run) return;
      this.problem = sentence(error);
      this.hits = [];
    } finally {
      if (run === this.#run) this.busy = false;
    }
  }

  #clear(): void {
    this.hits = [];
    this.more = this.behind = this.busy = false;
    this.answered = undefined;
    this.problem = "";
  }
}
