// Where commands meet their handlers. A view registers what it can do while it is there; a key, a
// button, the palette and a menu all run the command through here. Which keys a command has is what
// the person chose, else what the registry says.
import { createContext, untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { bind, type Binding } from "./bindings";
import { specOf, type CommandId } from "./commands";
import { groundOf, isPlain, isTyping, matchKey, passes, usableKeys, writeKey, type Platform } from "./keys";
import { Recent } from "./recent.svelte";

/** Does the command. Returning false says that it had nothing to do, so that the key goes on. */
export type Handler = (digit?: number) => boolean | void;

export class CommandCenter {
  #handlers = new SvelteMap<CommandId, Handler[]>();
  readonly platform: Platform;
  /** Keys that the person chose, by command. */
  #chosen = $state.raw<Readonly<Record<string, readonly string[]>>>({});
  readonly bindings: Binding[] = $derived.by(() => bind(this.#chosen, this.platform));
  /** What was run from the palette, newest first. */
  readonly recent: Recent;

  constructor(platform: Platform, storage?: Storage) {
    this.platform = platform;
    this.recent = new Recent("carrel.commands", storage);
  }

  /** Takes what the person chose: the keys of each command, as the settings have them. */
  rebind(chosen: Readonly<Record<string, readonly string[]>>): void {
    this.#chosen = chosen;
  }

  get chosen(): Readonly<Record<string, readonly string[]>> {
    return this.#chosen;
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

  /** Every key that works here, as people write it. */
  allKeys(id: CommandId): string[] {
    return usableKeys(this.boundTo(id), this.platform).map((key) => writeKey(key, this.platform));
  }

  /** The keys as the registry or the settings write them. */
  boundTo(id: CommandId): string[] {
    return this.bindings.filter((binding) => binding.id === id).map((binding) => binding.key);
  }

  /** Whether the event is a key of the command; for what handles its keys itself. */
  matches(id: CommandId, event: KeyboardEvent): boolean {
    return usableKeys(this.boundTo(id), this.platform).some((key) => matchKey(event, key, this.platform) !== undefined);
  }

  /** Takes a key press of the window before anything else does: a terminal lets no key go on. */
  capture(event: KeyboardEvent): void {
    if (groundOf(event.target) === "terminal" && this.#take(event)) event.stopPropagation();
  }

  /** Takes a key press of the window. */
  key(event: KeyboardEvent): void {
    if (groundOf(event.target) !== "terminal") this.#take(event);
  }

  #take(event: KeyboardEvent): boolean {
    // During composition Enter and Escape belong to the input method.
    if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return false;
    const modal = isModal();
    const ground = groundOf(event.target);
    for (const { id, key } of this.bindings) {
      const spec = specOf(id);
      if (spec.local || (modal && !(spec.over && modal === "sheet"))) continue;
      if (spec.scope !== undefined && spec.scope !== ground) continue;
      if (ground !== "page" && !spec.over && spec.scope === undefined && !passes(key, ground, this.platform)) continue;
      if (isPlain(key, this.platform) && isTyping(event.target)) continue;
      const match = matchKey(event, key, this.platform);
      if (match && this.run(id, match.digit)) {
        event.preventDefault();
        return true;
      }
    }
    return false;
  }
}

/** What lies over the page: a dialog or menu, which has the keys, or only a column shown as a sheet. */
function isModal(): "dialog" | "sheet" | undefined {
  if (document.querySelector('[role="alertdialog"], .menu')) return "dialog";
  const dialogs = [...document.querySelectorAll('[role="dialog"]')];
  if (dialogs.length === 0) return undefined;
  return dialogs.every((dialog) => dialog.matches(".dialog.left, .dialog.right")) ? "sheet" : "dialog";
}

export const [useCommands, provideCommands] = createContext<CommandCenter>();
