export { provideTour, Tour, useTour } from "./store.svelte";
