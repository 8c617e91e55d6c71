// The log of the core while somebody looks at it.
import type { Host, OutputLine } from "../../host/host";
import { sentence } from "../../host/host";

/** As many as the core keeps. */
const kept = 2000;

export const levels = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof levels)[number];

export class OutputLog {
  #host: Host;
  /** Of every level, the oldest first. */
  lines = $state.raw<readonly OutputLine[]>([]);
  level = $state<Level>("info");
  /** The log file; empty when there is none. */
  file = $state("");
  /** Why the log is not known. */
  problem = $state("");
  readonly shown = $derived(this.lines.filter((line) => rank(line.level) >= rank(this.level)));
  /** What came while the lines were asked for; undefined when they are known. */
  #early: OutputLine[] | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Follows the log until the result is called. */
  watch(): () => void {
    const leave = this.#host.join("output");
    const stop = this.#host.listen({
      event: (event) => {
        if (event.name === "output.grew") this.#add(event.data.lines);
        else if (event.name === "output.cleared") {
          this.lines = [];
          if (this.#early) this.#early = [];
        } else if (event.name === "settings.changed") void this.#ask();
      },
      reset: () => void this.#ask(),
    });
    void this.#ask();
    return () => {
      stop();
      leave();
    };
  }

  async setLevel(level: Level): Promise<void> {
    this.level = level;
    await this.#host.api.output.setLevel({ level });
  }

  async clear(): Promise<void> {
    await this.#host.api.output.clear();
    this.lines = [];
  }

  async #ask(): Promise<void> {
    const early: OutputLine[] = (this.#early = []);
    try {
      const { lines, level, file } = await this.#host.api.output.read();
      if (this.#early !== early) return; // asked again meanwhile
      this.lines = lines;
      this.level = levels.find((one) => one === level) ?? "info";
      this.file = file;
      this.problem = "";
    } catch (error) {
      this.problem = sentence(error);
    }
    if (this.#early !== early) return;
    this.#early = undefined;
    this.#add(early);
  }

  #add(lines: readonly OutputLine[]): void {
    if (this.#early) {
      this.#early.push(...lines);
      return;
    }
    const last = this.lines.at(-1)?.seq ?? 0;
    const fresh = lines.filter((line) => line.seq > last);
    if (fresh.length > 0) this.lines = [...this.lines, ...fresh].slice(-kept);
  }
}

function rank(level: string): number {
  return levels.findIndex((one) => one === level);
}
