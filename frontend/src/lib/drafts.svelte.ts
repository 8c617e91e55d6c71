// What the person has written and not sent, per workspace. It lives as long as the page.
import { createContext } from "svelte";
import { SvelteMap } from "svelte/reactivity";

export class Drafts {
  #texts = new SvelteMap<string, string>();
  /** Grows when something else filled a draft, so that the composer takes the focus. */
  suggested = $state(0);

  get(workspace: string): string {
    return this.#texts.get(workspace) ?? "";
  }

  set(workspace: string, text: string): void {
    this.#texts.set(workspace, text);
  }

  /** Fills the draft; what was written stays above. */
  suggest(workspace: string, text: string): void {
    const before = this.get(workspace).trim();
    this.set(workspace, before ? `${before}\n${text}` : text);
    this.suggested++;
  }
}

export const [useDrafts, provideDrafts] = createContext<Drafts>();
