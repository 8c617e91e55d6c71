// What the person has written and not sent, per workspace, with the pictures beside it. The core keeps it:
// a moment after the last change, when the composer is left, and when the page goes away. What another
// window writes shows here too, unless this one has something that the other has not seen.
import { createContext } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import type { DraftChanged, Host, Upload } from "../host/host";
import { randomId } from "./ids";

/** How long after the last change a draft is kept, in milliseconds. */
const wait = 500;

/** The pictures that go with a draft. */
export interface DraftFiles {
  uploads(workspace: string): readonly Upload[];
  restore(workspace: string, files: readonly Upload[]): void;
}

interface Kept {
  /** The mark of what the core has, as far as this page knows. */
  saved: string;
  /** Grows with each change here, so that a snapshot from before it is not taken for newer. */
  changes: number;
  timer?: ReturnType<typeof setTimeout> | undefined;
}

export class Drafts {
  #host: Host;
  #files: DraftFiles;
  /** Tells this page's drafts from those of others. */
  #me = randomId();
  #texts = new SvelteMap<string, string>();
  #kept = new Map<string, Kept>();
  /** Grows when something else filled a draft, so that the composer takes the focus. */
  suggested = $state(0);

  constructor(host: Host, files: DraftFiles = { uploads: () => [], restore: () => undefined }) {
    this.#host = host;
    this.#files = files;
    host.listen({
      connection: (state) => {
        if (state.kind === "online") this.flushAll();
      },
      event: (event) => {
        if (event.name === "workspace.removed") this.#forget(event.data.id);
        else if (event.name === "draft.changed") this.#heard(event.data);
      },
    });
  }

  get(workspace: string): string {
    return this.#texts.get(workspace) ?? "";
  }

  set(workspace: string, text: string): void {
    this.#texts.set(workspace, text);
    this.touch(workspace);
  }

  /** The draft is another one now: it is handed to the core in a moment. */
  touch(workspace: string): void {
    const kept = this.#of(workspace);
    kept.changes++;
    clearTimeout(kept.timer);
    kept.timer = setTimeout(() => void this.flush(workspace), wait);
  }

  /** Empties the box of a message that is on its way. The core forgets it with the next flush. */
  take(workspace: string): string {
    const kept = this.#of(workspace);
    const text = this.get(workspace);
    kept.changes++;
    clearTimeout(kept.timer);
    this.#texts.set(workspace, "");
    return text;
  }

  /** Fills the draft; what was written stays above. */
  suggest(workspace: string, text: string): void {
    const before = this.get(workspace).trim();
    this.set(workspace, before ? `${before}\n${text}` : text);
    this.suggested++;
  }

  /** How often the draft was changed here; `load` takes it. */
  changes(workspace: string): number {
    return this.#of(workspace).changes;
  }

  /** Takes what the core keeps, unless the person wrote something since it was asked. */
  load(workspace: string, text: string, files: readonly Upload[], since: number): void {
    const kept = this.#of(workspace);
    if (kept.changes === since && this.#mark(workspace) === kept.saved) this.#take(workspace, text, files);
  }

  /** Hands the draft to the core now. One that it does not take is handed over again later. */
  async flush(workspace: string): Promise<void> {
    const kept = this.#of(workspace);
    clearTimeout(kept.timer);
    const [text, files, mark, before] = [this.get(workspace), this.#files.uploads(workspace), this.#mark(workspace), kept.saved];
    if (mark === before) return;
    kept.saved = mark;
    try {
      await this.#host.api.conversations.setDraft({ workspace, text, by: `${this.#me} ${before}`, ...(files.length > 0 ? { files: [...files] } : {}) });
    } catch {
      if (kept.saved === mark) kept.saved = before;
    }
  }

  /** Another page wrote. Whoever writes here too, or wrote what that page had not seen, keeps it. */
  #heard({ workspace, text, files, by }: DraftChanged): void {
    const [page, seen] = (by ?? "").split(" ");
    if (page === this.#me) return;
    const mine = this.#mark(workspace);
    if (mine !== this.#of(workspace).saved) return;
    if (mine === nothing || seen === undefined || seen === mine) this.#take(workspace, text, files ?? []);
  }

  #take(workspace: string, text: string, files: readonly Upload[]): void {
    if (this.get(workspace) !== text) this.#texts.set(workspace, text);
    this.#files.restore(workspace, files);
    this.#of(workspace).saved = markOf(text, files);
  }

  /** The mark of what is in the box. */
  #mark(workspace: string): string {
    return markOf(this.get(workspace), this.#files.uploads(workspace));
  }

  /** Hands every draft to the core that it does not have. */
  flushAll(): void {
    for (const workspace of this.#kept.keys()) void this.flush(workspace);
  }

  #of(workspace: string): Kept {
    let kept = this.#kept.get(workspace);
    if (!kept) this.#kept.set(workspace, (kept = { saved: nothing, changes: 0 }));
    return kept;
  }

  #forget(workspace: string): void {
    clearTimeout(this.#kept.get(workspace)?.timer);
    this.#kept.delete(workspace);
    this.#texts.delete(workspace);
  }
}

/** A short word for a draft; drafts that differ have different ones, by all likelihood. */
function markOf(text: string, files: readonly Upload[]): string {
  let hash = 0x811c9dc5;
  const all = `${text}\0${files.map((file) => file.upload ?? file.blob ?? "").join()}`;
  for (let i = 0; i < all.length; i++) hash = Math.imul(hash ^ all.charCodeAt(i), 0x01000193);
  return `${all.length}.${(hash >>> 0).toString(36)}`;
}

/** The mark of an empty draft. */
const nothing = markOf("", []);

export const [useDrafts, provideDrafts] = createContext<Drafts>();
