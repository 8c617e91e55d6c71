// Pictures of messages as addresses of this page. The newest few stay, so that scrolling back does not
// fetch them again.
import { createContext } from "svelte";
import type { Host } from "../../host/host";

/** How many are kept that nobody shows. */
const kept = 40;

interface Held {
  url: Promise<string>;
  users: number;
}

export class ShownPictures {
  #host: Host;
  #held = new Map<string, Held>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** The address of a picture; `release` it when it is not shown any more. */
  hold(workspace: string, blob: string): Promise<string> {
    const id = `${workspace}/${blob}`;
    const held = this.#held.get(id) ?? { url: this.#read(id, workspace, blob), users: 0 };
    held.users++;
    this.#held.delete(id);
    this.#held.set(id, held);
    return held.url;
  }

  release(workspace: string, blob: string): void {
    const held = this.#held.get(`${workspace}/${blob}`);
    if (held) held.users--;
    let idle = [...this.#held.values()].filter((one) => one.users <= 0).length;
    for (const [id, one] of this.#held) {
      if (idle <= kept) break;
      if (one.users > 0) continue;
      this.#held.delete(id);
      void one.url.then((url) => URL.revokeObjectURL(url), () => undefined);
      idle--;
    }
  }

  async #read(id: string, workspace: string, blob: string): Promise<string> {
    try {
      return URL.createObjectURL(await this.#host.picture(workspace, blob));
    } catch (error) {
      this.#held.delete(id); // the next one asks again
      throw error;
    }
  }
}

export const [useShownPictures, provideShownPictures] = createContext<ShownPictures>();
