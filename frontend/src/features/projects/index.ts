export { moveItems, projectMenu, type Step } from "./actions";
export { default as FolderDialog } from "./FolderDialog.svelte";
export { default as ProjectHeading } from "./ProjectHeading.svelte";
export { default as RemoveDialog } from "./RemoveDialog.svelte";
export { Projects, provideProjects, useProjects } from "./store.svelte";
export { default as TrustDialog } from "./TrustDialog.svelte";
