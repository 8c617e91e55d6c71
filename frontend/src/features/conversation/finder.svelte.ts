// Finding a text in the whole conversation: the core looks through the log, from the newest entries to the
// oldest, a moment at a time; the person goes from one entry to the next meanwhile.
import { sentence, type FoundEntry, type Host } from "../../host/host";

/** How long typing must rest before the core is asked, in milliseconds. */
const rest = 150;
/** Entries beyond this are not counted. */
const most = 10_000;

export class Finder {
  #host: Host;
  #workspace: string;
  #run = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  text = $state("");
  /** The newest first. */
  hits = $state.raw<readonly FoundEntry[]>([]);
  at = $state(-1);
  busy = $state(false);
  problem = $state("");
  /** Shows a hit; set by the view. */
  onshow: (hit: FoundEntry) => void = () => undefined;

  constructor(host: Host, workspace: string) {
    this.#host = host;
    this.#workspace = workspace;
  }

  /** Looks for another text once the person stops typing. */
  look(text: string): void {
    this.text = text;
    this.#run++;
    clearTimeout(this.#timer);
    [this.hits, this.at, this.busy, this.problem] = [[], -1, false, ""];
    if (text.trim() === "") return;
    this.busy = true;
    this.#timer = setTimeout(() => void this.#ask(this.#run), rest);
  }

  /** Stops looking. */
  close(): void {
    this.#run++;
    clearTimeout(this.#timer);
    this.busy = false;
  }

  async #ask(run: number): Promise<void> {
    try {
      let before: number | undefined = 0;
      while (before !== undefined && this.hits.length < most) {
        const found = await this.#host.api.conversations.find({ workspace: this.#workspace, text: this.text, ...(before > 0 ? { before } : {}) });
        if (run !== this.#run) return;
        const first = this.hits.length === 0;
        this.hits = [...this.hits, ...(found.hits ?? [])];
        if (first && this.hits.length > 0) this.go(0);
        before = found.next;
      }
    } catch (error) {
      if (run === this.#run) this.problem = sentence(error);
    } finally {
      if (run === this.#run) this.busy = false;
    }
  }

  /** Goes on to an older entry (1) or a newer one (-1); past the ends it begins anew. */
  step(by: 1 | -1): void {
    const n = this.hits.length;
    if (n === 0) return;
    // What older entries there are is not known while the core still looks.
    if (this.busy && (this.at + by < 0 || this.at + by >= n)) return;
    this.go((this.at + by + n) % n);
  }

  go(at: number): void {
    this.at = at;
    const hit = this.hits[at];
    if (hit) this.onshow(hit);
  }
}
