export { default as SearchDialog } from "./SearchDialog.svelte";
