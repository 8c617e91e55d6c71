export { default as Composer } from "./Composer.svelte";
