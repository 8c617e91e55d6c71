export { default as AppMenu } from "./AppMenu.svelte";
export { CommandCenter, provideCommands, useCommands } from "./center.svelte";
export { commands, type CommandId } from "./commands";
export type { Place } from "./palette";
export { Recent } from "./recent.svelte";
export { default as Palette } from "./Palette.svelte";
