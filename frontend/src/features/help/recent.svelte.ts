// What was used last, for ranking. It lasts as long as the tab.

const most = 50;

export class Recent {
  #name: string;
  #storage: Storage | undefined;
  #ids = $state.raw<readonly string[]>([]);

  constructor(name: string, storage?: Storage) {
    this.#name = name;
    this.#storage = storage;
    this.#ids = (storage?.getItem(name) ?? "").split("\n").filter((id) => id !== "").slice(0, most);
  }

  get ids(): readonly string[] {
    return this.#ids;
  }

  /** Puts it first. */
  touch(id: string): void {
    if (id === "" || id.includes("\n") || this.#ids[0] === id) return;
    this.#ids = [id, ...this.#ids.filter((other) => other !== id)].slice(0, most);
    this.#storage?.setItem(this.#name, this.#ids.join("\n"));
  }

  /** How lately it was used: 1 for the last, towards 0 for long ago or never. */
  weight(id: string): number {
    const at = this.#ids.indexOf(id);
    return at < 0 ? 0 : 1 - at / most;
  }
}
