export { default as ChangesPanel } from "./ChangesPanel.svelte";
