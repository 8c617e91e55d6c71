// Messages on their way to the core. One that could not be sent stays here until the person decides,
// so nothing that was written is lost. Its id makes sending it again harmless.
import { sentence, type Dispatch, type Host } from "../../host/host";
import { randomId } from "../../lib/ids";
import type { Sent } from "../pictures/index";

export interface Outgoing {
  id: string;
  text: string;
  dispatch: Dispatch;
  pictures: Sent;
  problem?: string;
}

export class Outbox {
  #host: Host;
  #workspace: string;
  list = $state.raw<Outgoing[]>([]);

  constructor(host: Host, workspace: string) {
    this.#host = host;
    this.#workspace = workspace;
  }

  /** Sends a message. While a turn runs, dispatch says when it reaches the model. The result says whether the core has it. */
  send(text: string, dispatch: Dispatch = "step", pictures: Sent = { files: [], urls: [] }): Promise<boolean> {
    const message = { id: randomId(), text, dispatch, pictures };
    this.list = [...this.list, message];
    return this.#try(message);
  }

  retry(id: string): Promise<boolean> {
    const message = this.list.find((one) => one.id === id);
    if (!message) return Promise.resolve(false);
    this.#set(id, undefined);
    return this.#try(message);
  }

  remove(id: string): void {
    for (const one of this.list) if (one.id === id) for (const { url } of one.pictures.urls) URL.revokeObjectURL(url);
    this.list = this.list.filter((one) => one.id !== id);
  }

  /** The message is in the conversation: it need not be shown here. */
  arrived(text: string, files: number): void {
    const message = this.list.find((one) => one.text === text && one.pictures.files.length === files && one.problem === undefined);
    if (message) this.remove(message.id);
  }

  async #try(message: Outgoing): Promise<boolean> {
    try {
      await this.#host.api.conversations.send({ workspace: this.#workspace, id: message.id, text: message.text, dispatch: message.dispatch, ...(message.pictures.files.length > 0 ? { files: message.pictures.files } : {}) });
      this.remove(message.id);
      return true;
    } catch (error) {
      this.#set(message.id, sentence(error));
      return false;
    }
  }

  #set(id: string, problem: string | undefined): void {
    this.list = this.list.map((one) => (one.id === id ? { id: one.id, text: one.text, dispatch: one.dispatch, pictures: one.pictures, ...(problem === undefined ? {} : { problem }) } : one));
  }
}
