// Where the person is: the chosen workspace, the open dialog, which columns show. Nothing here
// outlives the tab, apart from the chosen workspace, which a reload keeps.

import type { Stake } from "../host/host";
import { SvelteSet } from "svelte/reactivity";

/** The dialog that is open; at most one. */
export type DialogState =
  | { kind: "none" }
  | { kind: "addProject" }
  | { kind: "locateProject"; project: string }
  | { kind: "removeProject"; project: string }
  | { kind: "trustProject"; project: string; added?: boolean }
  | { kind: "newWorkspace"; project?: string | undefined; parent?: string }
  | { kind: "renameWorkspace"; workspace: string }
  | { kind: "deleteWorkspace"; workspace: string }
  | { kind: "forkWorkspace"; workspace: string; message?: string; entry?: string }
  | { kind: "search" }
  | { kind: "settings"; section?: SettingsSection }
  | { kind: "quit"; stakes: Stake[] }
  /** `start` is what stands in its field, such as ">". */
  | { kind: "palette"; start?: string }
  | { kind: "shortcuts" };

export type SettingsSection = "general" | "providers" | "models" | "permissions" | "sandbox" | "keys" | "about";

/** A place in a conversation to go to. */
export interface Place {
  workspace: string;
  entry: string;
  order: number;
}

export const sidebarWidth = { initial: 264, min: 200, max: 420 };
export const rightWidth = { initial: 420, min: 300, max: 900 };

const KEY = "carrel.workspace";

export class Shell {
  #storage: Storage;
  #selected = $state.raw("");
  dialog = $state.raw<DialogState>({ kind: "none" });
  /** The columns, where there is room for them. */
  sidebarShown = $state(true);
  rightShown = $state(true);
  /** The sheets that replace them where there is not. */
  sidebarSheet = $state(false);
  rightSheet = $state(false);
  sidebar = $state(sidebarWidth.initial);
  right = $state(rightWidth.initial);
  /** The id of a tab of the right column, as tabs.ts declares them. */
  rightTab = $state("changes");
  /** Whether it is known what the columns showed last; nothing shows before, so that nothing jumps. */
  settled = $state(false);
  filterShown = $state(false);
  /** What is folded in the sidebar: ids of projects and workspaces, and "archived". */
  readonly folded = new SvelteSet<string>(["archived"]);
  /** The workspace that the person marked as unread while it shows: looking at it does not undo that. */
  leftUnread = "";
  /** Where a conversation is to be shown; its view clears it when it is there. */
  place = $state.raw<Place | undefined>();

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#selected = storage.getItem(KEY) ?? "";
  }

  /** The id of the chosen workspace, or "". */
  get selected(): string {
    return this.#selected;
  }

  select(workspace: string): void {
    if (workspace !== this.#selected) this.leftUnread = "";
    this.#selected = workspace;
    this.#storage.setItem(KEY, workspace);
    this.sidebarSheet = false;
  }

  /** Chooses a workspace and shows a place in its conversation. */
  reveal(place: Place): void {
    this.select(place.workspace);
    this.place = place;
  }

  open(dialog: DialogState): void {
    this.sidebarSheet = false;
    this.dialog = dialog;
  }

  close(): void {
    this.dialog = { kind: "none" };
  }
}
