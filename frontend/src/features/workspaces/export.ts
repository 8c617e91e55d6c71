// A conversation as a document: a download in a browser. The window's web view saves no files by itself,
// so there the document goes to the clipboard.
import type { ExportFormat, Host, Workspace } from "../../host/host";
import { copyText } from "../../lib/clipboard";
import type { Toasts } from "../../ui/toasts.svelte";

/** How long a browser may take to fetch what it saves, in milliseconds. */
const patience = 60_000;

/** Exports a workspace's conversation, and says where it went. */
export async function exportConversation(workspace: Workspace, format: ExportFormat, { host, toasts }: { host: Host; toasts: Toasts }): Promise<void> {
  try {
    const made = await host.api.conversations.export({ workspace: workspace.id, format });
    if (host.kind === "desktop") {
      const copied = () => toasts.info(`${made.name} is on the clipboard. “carrel export ${workspace.name}” writes it to a file.`);
      if (await copyText(made.text)) copied();
      else {
        // A web view copies only at a click, and the document took too long to count as part of the last one.
        toasts.problem(`${made.name} is ready, and the window wants a click to copy it.`, { label: "Copy it", run: () => void copyText(made.text).then((done) => (done ? copied() : toasts.problem(`The clipboard is not available. “carrel export ${workspace.name}” writes the conversation to a file.`))) });
      }
      return;
    }
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
