export { provideSandboxes, Sandboxes, useSandboxes } from "./store.svelte";
export { default as SandboxMark } from "./SandboxMark.svelte";
export { default as UnconfinedNote } from "./UnconfinedNote.svelte";
