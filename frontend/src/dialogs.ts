// The dialogs that are not needed to begin with: their code comes when they are opened, or before that
// when the page has nothing else to do.
export const dialogs = {
  settings: () => import("./features/settings/SettingsDialog.svelte").then((m) => m.default),
  search: () => import("./features/search/SearchDialog.svelte").then((m) => m.default),
  shortcuts: () => import("./features/help/ShortcutSheet.svelte").then((m) => m.default),
  fork: () => import("./features/workspaces/ForkDialog.svelte").then((m) => m.default),
  remove: () => import("./features/projects/RemoveDialog.svelte").then((m) => m.default),
  trust: () => import("./features/projects/TrustDialog.svelte").then((m) => m.default),
  delete: () => import("./features/workspaces/DeleteDialog.svelte").then((m) => m.default),
  quit: () => import("./features/workspaces/QuitDialog.svelte").then((m) => m.default),
};

/** How long after the start the page may be taken to have nothing else to do, in milliseconds. */
const calm = 2000;

/** Loads them ahead, one after the other. The result gives it up. */
export function loadAhead(): () => void {
  let ended = false;
  const loads: (() => Promise<unknown>)[] = Object.values(dialogs);
  const timer = setTimeout(async () => {
    for (const load of loads) if (!ended) await load().catch(() => undefined);
  }, calm);
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
