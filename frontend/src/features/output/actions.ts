// What the commands about the log do.
import type { Host } from "../../host/host";
import type { Shell } from "../../lib/shell.svelte";
import type { Toasts } from "../../ui/toasts.svelte";

/** Opens the log file in the person's program for it, or says where it is. */
export async function openLogFile(host: Host, toasts: Toasts): Promise<void> {
  try {
    await host.api.output.openFile();
  } catch (error) {
    toasts.problem(error);
  }
}

/** Leaves the Output tab; false when it is not shown. */
export function hideOutput(shell: Shell): boolean {
  if (shell.rightTab !== "output" || !(shell.rightShown || shell.rightSheet)) return false;
  shell.rightTab = "changes";
  shell.rightSheet = false;
  shell.rightShown = false;
  return true;
}
