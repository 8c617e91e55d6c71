// Messages on their way to the core. One that could not be sent stays here until the person decides,
// so nothing that was written is lost. Its id makes sending it again harmless.
import { sentence, type Host } from "../../host/host";

export interface Outgoing {
  id: string;
  text: string;
  problem?: string;
}

/** 128 random bits; randomUUID is missing on plain http. */
function messageId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Outbox {
  #host: Host;
  #workspace: string;
  list = $state.raw<Outgoing[]>([]);

  constructor(host: Host, workspace: string) {
    this.#host = host;
    this.#workspace = workspace;
  }

  send(text: string): Promise<void> {
    const message = { id: messageId(), text };
    this.list = [...this.list, message];
    return this.#try(message);
  }

  retry(id: string): Promise<void> {
    const message = this.list.find((one) => one.id === id);
    if (!message) return Promise.resolve();
    this.#set(id, undefined);
    return this.#try(message);
  }

  remove(id: string): void {
    this.list = this.list.filter((one) => one.id !== id);
  }

  /** The message is in the conversation: it need not be shown here. */
  arrived(text: string): void {
    const message = this.list.find((one) => one.text === text && one.problem === undefined);
    if (message) this.remove(message.id);
  }

  async #try(message: Outgoing): Promise<void> {
    try {
      await this.#host.api.conversations.send({ workspace: this.#workspace, id: message.id, text: message.text });
      this.remove(message.id);
    } catch (error) {
      this.#set(message.id, sentence(error));
    }
  }

  #set(id: string, problem: string | undefined): void {
    this.list = this.list.map((one) => (one.id === id ? { id: one.id, text: one.text, ...(problem === undefined ? {} : { problem }) } : one));
  }
}
