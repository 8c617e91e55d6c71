// Sets formulas. The typesetter is large: it is loaded when the first formula is shown.

type Katex = typeof import("katex").default;

const options = {
  output: "htmlAndMathml",
  throwOnError: true,
  // No links, pictures or classes from a formula; sizes and expansions end early.
  trust: false,
  strict: "ignore",
  maxSize: 20,
  maxExpand: 200,
} as const;
/** How many formulas stay set, so that a text that grows does not set them again. */
const kept = 300;

export class Formulas {
  #katex = $state.raw<Katex | undefined>();
  #loading = false;
  #set = new Map<string, HTMLElement | undefined>();

  /** Whether formulas can be set now; asking for it loads what is missing. */
  get ready(): boolean {
    if (!this.#katex && !this.#loading) {
      this.#loading = true;
      void this.#load();
    }
    return this.#katex !== undefined;
  }

  async #load(): Promise<void> {
    try {
      const [module] = await Promise.all([import("katex"), import("katex/dist/katex.min.css")]);
      this.#katex = module.default;
    } catch {
      // The sources stay; the next formula asks again.
      this.#loading = false;
    }
  }

  /** Puts the set formulas in the place of their sources below an element. One with a mistake stays as it is. */
  fill(root: Element): void {
    if (!this.ready) return;
    for (const source of root.querySelectorAll("code.formula")) {
      const set = this.#of(source.textContent ?? "", source.classList.contains("display"));
      if (set) source.replaceWith(set.cloneNode(true));
    }
  }

  #of(tex: string, displayMode: boolean): HTMLElement | undefined {
    const key = `${displayMode}${tex}`;
    if (this.#set.has(key)) return this.#set.get(key);
    const made = document.createElement("span");
    let set: HTMLElement | undefined = made;
    if (displayMode) {
      made.className = "formula-display";
      made.tabIndex = 0;
    }
    try {
      // It builds nodes, never text that is parsed as HTML.
      this.#katex?.render(tex, made, { ...options, displayMode });
    } catch {
      set = undefined;
    }
    if (this.#set.size >= kept) this.#set.delete(this.#set.keys().next().value ?? "");
    this.#set.set(key, set);
    return set;
  }
}
