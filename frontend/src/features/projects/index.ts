export { moveItems, projectMenu, type Step } from "./actions";
export { default as FolderDialog } from "./FolderDialog.svelte";
export { default as ProjectHeading } from "./ProjectHeading.svelte";
export { Projects, provideProjects, useProjects } from "./store.svelte";
