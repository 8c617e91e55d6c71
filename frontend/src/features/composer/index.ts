export { default as Composer } from "./Composer.svelte";
export { hintsFor } from "./slash";
