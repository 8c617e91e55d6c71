export { provideTerminals, Terminals, useTerminals } from "./store.svelte";
export { registerTerminals } from "./commands";
