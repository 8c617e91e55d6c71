export { default as CostsPanel } from "./CostsPanel.svelte";
