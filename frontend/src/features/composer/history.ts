// Going back through what the person said in a workspace, newest first.

export class Recall {
  readonly #said: readonly string[];
  /** What was being written before. */
  readonly #draft: string;
  #at = -1;

  constructor(said: readonly string[], draft: string) {
    this.#said = said;
    this.#draft = draft;
  }

  /** The text that is shown: one that was changed since is no longer recalled. */
  get shown(): string {
    return this.#at < 0 ? this.#draft : (this.#said[this.#at] ?? this.#draft);
  }

  /** Goes to an older text (1) or a newer one (-1); undefined when there is none. */
  go(by: 1 | -1): string | undefined {
    const next = this.#at + by;
    if (next < -1 || next >= this.#said.length) return undefined;
    this.#at = next;
    return this.shown;
  }
}

/** Texts to go back through: newest first, each once in a row, without empty ones. */
export function saidBefore(texts: readonly string[]): string[] {
  return texts.filter((text, index) => text.trim() !== "" && text !== texts[index - 1]).reverse();
}
