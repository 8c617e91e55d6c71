export { CommandCenter, provideCommands, useCommands } from "./center.svelte";
export { commands, type CommandId } from "./commands";
export { default as Palette } from "./Palette.svelte";
export { default as ShortcutSheet } from "./ShortcutSheet.svelte";
