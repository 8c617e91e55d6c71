// Short messages in the corner. Errors stay until they are closed; others go by themselves.
import { createContext } from "svelte";
import { sentence } from "../host/host";

export interface Toast {
  id: number;
  tone: "info" | "bad";
  message: string;
  action?: { label: string; run: () => void };
}

/** How long they stay, in milliseconds; longer where there is something to press. */
const infoLife = 5000;
const actionLife = 20_000;

export class Toasts {
  #next = 1;
  list = $state.raw<Toast[]>([]);

  info(message: string, action?: Toast["action"]): void {
    this.#add("info", message, action);
  }

  /** Shows what went wrong, once. */
  problem(error: unknown, action?: Toast["action"]): void {
    this.#add("bad", typeof error === "string" ? error : sentence(error), action);
  }

  close(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  #add(tone: Toast["tone"], message: string, action: Toast["action"]): void {
    const toast: Toast = { id: this.#next++, tone, message, ...(action ? { action } : {}) };
    this.list = [...this.list.filter((old) => old.message !== message), toast].slice(-4);
    if (tone === "info") setTimeout(() => this.close(toast.id), action ? actionLife : infoLife);
  }
}

export const [useToasts, provideToasts] = createContext<Toasts>();
