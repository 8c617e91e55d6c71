// The terminals of all workspaces, as the core tells. What they show is not here: a view asks for that.
import { SvelteMap, SvelteSet } from "svelte/reactivity";
import { createContext } from "svelte";
import type { Editor, Host, OpenTerminal, Terminal } from "../../host/host";

export const [useTerminals, provideTerminals] = createContext<Terminals>();

/** Terminals that share a place, side by side. */
export interface Group {
  id: string;
  terminals: Terminal[];
}

export class Terminals {
  #host: Host;
  #all = new SvelteMap<string, Terminal>();
  /** The terminal that was used last, by workspace. */
  #chosen = new SvelteMap<string, string>();
  /** Bells that the person has heard, by terminal. */
  #heard = new SvelteMap<string, number>();
  /** Those that were closed here and whose end the core has not told yet. */
  #closing = new SvelteSet<string>();
  /** Editors and system terminals; undefined until somebody asks. */
  editors = $state.raw<Editor[] | undefined>();

  constructor(host: Host) {
    this.#host = host;
    host.listen({
      event: (event) => {
        if (event.name === "terminal.changed") this.#all.set(event.data.terminal.id, event.data.terminal);
        if (event.name === "terminal.closed") this.#forget(event.data.id);
      },
      reset: () => void this.refresh().catch(() => undefined),
    });
  }

  #forget(id: string): void {
    this.#all.delete(id);
    this.#heard.delete(id);
    this.#closing.delete(id);
  }

  async refresh(): Promise<void> {
    const all = await this.#host.api.terminals.list({ id: "" });
    const ids = new Set(all.map((one) => one.id));
    for (const id of [...this.#all.keys()]) if (!ids.has(id)) this.#forget(id);
    for (const one of all) this.#all.set(one.id, one);
  }

  /** A workspace's terminals in the order in which they were opened. */
  of(workspace: string): Terminal[] {
    return [...this.#all.values()].filter((one) => one.workspace === workspace && !this.#closing.has(one.id)).sort((a, b) => a.number - b.number);
  }

  groups(workspace: string): Group[] {
    const groups: Group[] = [];
    for (const one of this.of(workspace)) {
      const group = groups.find((other) => other.id === one.group);
      if (group) group.terminals.push(one);
      else groups.push({ id: one.group, terminals: [one] });
    }
    return groups;
  }

  /** The one that was used last, else the newest. */
  chosen(workspace: string): Terminal | undefined {
    const all = this.of(workspace);
    return all.find((one) => one.id === this.#chosen.get(workspace)) ?? all[all.length - 1];
  }

  choose(terminal: Terminal): void {
    this.#chosen.set(terminal.workspace, terminal.id);
    this.#heard.set(terminal.id, terminal.bells);
  }

  /** Whether it rang since the person looked. */
  rings(terminal: Terminal): boolean {
    return terminal.bells > (this.#heard.get(terminal.id) ?? 0);
  }

  async open(args: OpenTerminal): Promise<Terminal> {
    const one = await this.#host.api.terminals.open(args);
    this.#all.set(one.id, one);
    this.choose(one);
    return one;
  }

  async close(id: string): Promise<void> {
    this.#closing.add(id);
    try {
      await this.#host.api.terminals.close({ id });
      this.#forget(id);
    } finally {
      this.#closing.delete(id);
    }
  }

  /** Puts a text at the prompt of a shell that waits, in a terminal that is opened where there is none. */
  async put(workspace: string, text: string): Promise<number> {
    const chosen = this.chosen(workspace);
    const idle = chosen && !chosen.busy && !chosen.exit && chosen.program === "" ? chosen : undefined;
    const one = idle ?? this.of(workspace).find((other) => !other.busy && !other.exit && other.program === "") ?? (await this.open({ workspace }));
    this.choose(one);
    return (await this.#host.api.terminals.type({ id: one.id, text })).left;
  }

  async loadEditors(): Promise<Editor[]> {
    this.editors ??= await this.#host.api.terminals.editors();
    return this.editors;
  }
}

/** What a terminal is called. */
export function nameOf(terminal: Terminal): string {
  return terminal.name || terminal.title || terminal.program || `Terminal ${terminal.number}`;
}
