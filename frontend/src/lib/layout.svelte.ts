// The columns, folds and the chosen workspace, which the core keeps for each kind of window.
import { untrack } from "svelte";
import type { Host, Layout } from "../host/host";
import { rightWidth, sidebarWidth, type Shell } from "./shell.svelte";

/** How long a change waits for the next one before it is sent, in milliseconds. */
const pause = 300;
/** How long the page waits for the layout before it shows itself without, in milliseconds. */
const patience = 400;

const clamp = (width: number, { initial, min, max }: typeof sidebarWidth) => (width === 0 ? initial : Math.min(max, Math.max(min, width)));

/** Shows what was kept, then keeps what changes. Call it in an effect; the result ends it. */
export function keepLayout(host: Host, shell: Shell): () => void {
  return untrack(() => begin(host, shell));
}

function begin(host: Host, shell: Shell): () => void {
  let ended = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let kept = $state<string | undefined>();
  const waited = setTimeout(() => (shell.settled = true), patience);
  // The core may be away for long; what was changed meanwhile is more than what it kept.
  const untouched = JSON.stringify(layoutOf(host, shell));
  void host.api.system
    .layout({ host: host.kind })
    .then((layout) => {
      if (ended) return;
      if (layout.kept && JSON.stringify(layoutOf(host, shell)) === untouched) show(layout, shell);
      kept = JSON.stringify(layoutOf(host, shell));
    })
    .catch(() => (kept = ""))
    .finally(() => (shell.settled = true));

  const stop = $effect.root(() => {
    $effect(() => {
      const layout = layoutOf(host, shell);
      const text = JSON.stringify(layout);
      if (kept === undefined || text === kept) return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        kept = text;
        // What could not be kept is kept with the next change.
        void host.api.system.setLayout(layout).catch(() => undefined);
      }, pause);
    });
  });
  return () => {
    ended = true;
    clearTimeout(timer);
    clearTimeout(waited);
    stop();
  };
}

function layoutOf(host: Host, shell: Shell): Layout {
  return {
    host: host.kind,
    kept: true,
    sidebarWidth: shell.sidebar,
    rightWidth: shell.right,
    sidebarShown: shell.sidebarShown,
    rightShown: shell.rightShown,
    rightTab: shell.rightTab,
    workspace: shell.selected,
    folded: [...shell.folded].sort(),
  };
}

function show(layout: Layout, shell: Shell): void {
  shell.sidebar = clamp(layout.sidebarWidth, sidebarWidth);
  shell.right = clamp(layout.rightWidth, rightWidth);
  shell.sidebarShown = layout.sidebarShown;
  shell.rightShown = layout.rightShown;
  if (layout.rightTab) shell.rightTab = layout.rightTab;
  shell.folded.clear();
  for (const id of layout.folded ?? []) shell.folded.add(id);
  // This tab's own choice comes first: others may show something else.
  if (shell.selected === "" && layout.workspace !== "") shell.select(layout.workspace);
}
