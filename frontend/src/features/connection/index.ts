export { default as ConnectionBar } from "./ConnectionBar.svelte";
export { default as KeyScreen } from "./KeyScreen.svelte";
export { Connection, provideConnection, useConnection } from "./store.svelte";
