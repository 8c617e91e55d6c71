// What the menu of a project offers.
import ArrowDown from "@lucide/svelte/icons/arrow-down";
import ArrowUp from "@lucide/svelte/icons/arrow-up";
import FolderInput from "@lucide/svelte/icons/folder-input";
import Plus from "@lucide/svelte/icons/plus";
import ShieldCheck from "@lucide/svelte/icons/shield-check";
import Trash from "@lucide/svelte/icons/trash-2";
import type { Project } from "../../host/host";
import type { Shell } from "../../lib/shell.svelte";
import type { MenuItem } from "../../ui/Menu.svelte";

/** How a thing is moved one place up or down; false where it can't. */
export type Step = (by: -1 | 1) => (() => void) | false;

/** The items to put a thing into another place of its list. */
export function moveItems(step: Step): MenuItem[] {
  const up = step(-1);
  const down = step(1);
  if (!up && !down) return [];
  return [
    { kind: "line" },
    { kind: "item", label: "Move up", icon: ArrowUp, disabled: !up, keys: "Alt+↑", onselect: () => up && up() },
    { kind: "item", label: "Move down", icon: ArrowDown, disabled: !down, keys: "Alt+↓", onselect: () => down && down() },
  ];
}

export function projectMenu(project: Project, shell: Shell, step: Step): MenuItem[] {
  return [
    { kind: "item", label: "New workspace", icon: Plus, onselect: () => shell.open({ kind: "newWorkspace", project: project.id }) },
    { kind: "item", label: project.trusted ? "Trust…" : "Trust this project…", icon: ShieldCheck, onselect: () => shell.open({ kind: "trustProject", project: project.id }) },
    { kind: "item", label: "The folder has moved…", icon: FolderInput, onselect: () => shell.open({ kind: "locateProject", project: project.id }) },
    ...moveItems(step),
    { kind: "line" },
    { kind: "item", label: "Remove from Carrel…", icon: Trash, danger: true, onselect: () => shell.open({ kind: "removeProject", project: project.id }) },
  ];
}
