// What the menu of a workspace offers.
import Archive from "@lucide/svelte/icons/archive";
import ArchiveRestore from "@lucide/svelte/icons/archive-restore";
import Copy from "@lucide/svelte/icons/copy";
import FileBraces from "@lucide/svelte/icons/file-braces";
import FileDown from "@lucide/svelte/icons/file-down";
import GitBranchPlus from "@lucide/svelte/icons/git-branch-plus";
import GitFork from "@lucide/svelte/icons/git-fork";
import Mail from "@lucide/svelte/icons/mail";
import MailOpen from "@lucide/svelte/icons/mail-open";
import Pencil from "@lucide/svelte/icons/pencil";
import Pin from "@lucide/svelte/icons/pin";
import PinOff from "@lucide/svelte/icons/pin-off";
import RefreshCw from "@lucide/svelte/icons/refresh-cw";
import RotateCcw from "@lucide/svelte/icons/rotate-ccw";
import Trash from "@lucide/svelte/icons/trash-2";
import type { Host, Workspace } from "../../host/host";
import type { Shell } from "../../lib/shell.svelte";
import type { MenuItem } from "../../ui/Menu.svelte";
import { copyText } from "../../lib/clipboard";
import type { Toasts } from "../../ui/toasts.svelte";
import { moveItems, type Step } from "../projects/index";
import { exportConversation } from "./export";

export interface Reach {
  host: Host;
  shell: Shell;
  toasts: Toasts;
  keys: { rename: string; pin?: string };
  /** How it is moved in the sidebar. */
  step?: Step;
  /** The person's home folder. */
  home: string;
}

/** Archives a workspace, with a way back, or brings it back. */
export async function toggleArchive(workspace: Workspace, { host, toasts }: Pick<Reach, "host" | "toasts">): Promise<void> {
  const { id } = workspace;
  const name = workspace.title || workspace.name;
  try {
    if (workspace.archivedAt) {
      await host.api.workspaces.unarchive({ id });
      return;
    }
    await host.api.workspaces.archive({ id });
    toasts.info(`Archived “${name}”.`, {
      label: "Undo",
      run: () => void host.api.workspaces.unarchive({ id }).catch((error: unknown) => toasts.problem(error)),
    });
  } catch (error) {
    toasts.problem(error);
  }
}

/** Keeps a workspace above all projects, or puts it back. */
export async function togglePin(workspace: Workspace, { host, toasts }: Pick<Reach, "host" | "toasts">): Promise<void> {
  await host.api.workspaces.pin({ id: workspace.id, pinned: !workspace.pinned }).catch((error: unknown) => toasts.problem(error));
}

/** Leaves a workspace unread, so that it is looked at later, or says that it was seen. */
export async function toggleUnread(workspace: Workspace, { host, shell, toasts }: Pick<Reach, "host" | "shell" | "toasts">): Promise<void> {
  const { id } = workspace;
  try {
    if (workspace.unread) {
      await host.api.workspaces.markSeen({ id });
      return;
    }
    shell.leftUnread = id;
    await host.api.workspaces.markUnseen({ id });
  } catch (error) {
    toasts.problem(error);
  }
}

export function workspaceMenu(workspace: Workspace, reach: Reach): MenuItem[] {
  const { host, shell, toasts } = reach;
  const { id } = workspace;
  const act = (work: Promise<unknown>) => void work.catch((error: unknown) => toasts.problem(error));
  const items: MenuItem[] = [
    { kind: "item", label: "Rename…", icon: Pencil, keys: reach.keys.rename, onselect: () => shell.open({ kind: "renameWorkspace", workspace: id }) },
    ...(workspace.archivedAt
      ? []
      : ([
          { kind: "item", label: workspace.pinned ? "Unpin" : "Pin", icon: workspace.pinned ? PinOff : Pin, onselect: () => void togglePin(workspace, reach) },
          { kind: "item", label: workspace.unread ? "Mark as read" : "Mark as unread", icon: workspace.unread ? MailOpen : Mail, onselect: () => void toggleUnread(workspace, reach) },
          ...(reach.step ? moveItems(reach.step) : []),
          { kind: "line" },
          { kind: "item", label: "New sub-workspace…", icon: GitBranchPlus, disabled: workspace.health !== "ready", onselect: () => shell.open({ kind: "newWorkspace", project: workspace.projectId, parent: id }) },
        ] satisfies MenuItem[])),
    { kind: "item", label: "Fork…", icon: GitFork, disabled: workspace.health !== "ready", onselect: () => shell.open({ kind: "forkWorkspace", workspace: id }) },
    { kind: "line" },
    { kind: "item", label: "Export as Markdown", icon: FileDown, onselect: () => void exportConversation(workspace, "md", reach) },
    { kind: "item", label: "Export as JSON", icon: FileBraces, onselect: () => void exportConversation(workspace, "json", reach) },
    { kind: "line" },
    { kind: "item", label: "Copy the folder's path", icon: Copy, onselect: () => act(copyText(workspace.dir).then((done) => (done ? toasts.info("Path copied.") : toasts.problem("The clipboard is not available.")))) },
    { kind: "item", label: "Ask git again", icon: RefreshCw, onselect: () => act(host.api.workspaces.refreshGit({ id })) },
  ];
  if (workspace.init === "failed" || workspace.init === "done" || workspace.init === "skipped") {
    items.push({ kind: "item", label: "Run the init hook again", icon: RotateCcw, onselect: () => act(host.api.workspaces.retryInit({ id })) });
  }
  items.push(
    { kind: "line" },
    { kind: "item", label: workspace.archivedAt ? "Bring back" : "Archive", icon: workspace.archivedAt ? ArchiveRestore : Archive, onselect: () => void toggleArchive(workspace, reach) },
    { kind: "item", label: "Delete…", icon: Trash, danger: true, onselect: () => shell.open({ kind: "deleteWorkspace", workspace: id }) },
  );
  return items;
}
