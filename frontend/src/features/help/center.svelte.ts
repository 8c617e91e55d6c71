// Where commands meet their handlers. A view registers what it can do while it is there; a key, a
// button, the palette and a menu all run the command through here.
import { createContext, untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { commands, specOf, type CommandId, type CommandSpec } from "./commands";
import { isPlain, isTyping, matchKey, usableKeys, writeKey, type Platform } from "./keys";

/** Does the command. Returning false says that it had nothing to do, so that the key goes on. */
export type Handler = (digit?: number) => boolean | void;

export class CommandCenter {
  #handlers = new SvelteMap<CommandId, Handler[]>();
  #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Registers a handler; the newest wins. The result removes it; call it in an effect. */
  register(id: CommandId, handler: Handler): () => void {
    this.#change(id, (list) => [...list, handler]);
    return () => this.#change(id, (list) => list.filter((other) => other !== handler));
  }

  /** Who registers must not run again when someone else does. */
  #change(id: CommandId, change: (list: Handler[]) => Handler[]): void {
    untrack(() => this.#handlers.set(id, change(this.#handlers.get(id) ?? [])));
  }

  /** Whether someone can do it now. */
  available(id: CommandId): boolean {
    return (this.#handlers.get(id)?.length ?? 0) > 0;
  }

  run(id: CommandId, digit?: number): boolean {
    const handler = this.#handlers.get(id)?.at(-1);
    return handler !== undefined && handler(digit) !== false;
  }

  /** The key as a button or tooltip shows it, or "". */
  keys(id: CommandId): string {
    return this.allKeys(id)[0] ?? "";
  }

  allKeys(id: CommandId): string[] {
    return usableKeys(specOf(id).keys, this.#platform).map((key) => writeKey(key, this.#platform));
  }

  /** Takes a key press of the window. */
  key(event: KeyboardEvent): void {
    // During composition Enter and Escape belong to the input method.
    if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
    if (document.querySelector('[role="dialog"], [role="alertdialog"], .menu')) return;
    for (const command of commands as readonly CommandSpec[]) {
      if (command.local) continue;
      for (const key of usableKeys(command.keys, this.#platform)) {
        if (isPlain(key) && isTyping(event.target)) continue;
        const match = matchKey(event, key, this.#platform);
        if (match && this.run(command.id as CommandId, match.digit)) {
          event.preventDefault();
          return;
        }
      }
    }
  }
}

export const [useCommands, provideCommands] = createContext<CommandCenter>();
