// A conversation as a document: a download in a browser. The window's web view saves no files by itself,
// so there the core writes one.
import type { ExportFormat, Host, Workspace } from "../../host/host";
import { homePath } from "../../lib/format";
import type { Toasts } from "../../ui/toasts.svelte";

/** How long a browser may take to fetch what it saves, in milliseconds. */
const patience = 60_000;

export interface ExportReach {
  host: Host;
  toasts: Toasts;
  /** The person's home folder. */
  home: string;
}

/** Exports a workspace's conversation, and says where it went. */
export async function exportConversation(workspace: Workspace, format: ExportFormat, { host, toasts, home }: ExportReach): Promise<void> {
  try {
    if (host.kind === "desktop") {
      const { path } = await host.api.conversations.saveExport({ workspace: workspace.id, format });
      const show = () => void host.api.system.showFile({ path }).catch((error: unknown) => toasts.problem(error));
      toasts.info(`Saved as ${homePath(path, home)}`, { label: "Show in folder", run: show });
      return;
    }
    const made = await host.api.conversations.export({ workspace: workspace.id, format });
    const address = URL.createObjectURL(new Blob([made.text], { type: made.mime }));
    const link = document.createElement("a");
    link.href = address;
    link.download = made.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), patience);
  } catch (error) {
    toasts.problem(error);
  }
}
