export { toggleArchive } from "./actions";
export { default as DeleteDialog } from "./DeleteDialog.svelte";
export { default as HealthNotice } from "./HealthNotice.svelte";
export { default as NewWorkspaceDialog } from "./NewWorkspaceDialog.svelte";
export { default as RenameDialog } from "./RenameDialog.svelte";
export { default as Sidebar } from "./Sidebar.svelte";
export { branchOf, isWorking, linesTitle } from "./status";
export { provideWorkspaces, useWorkspaces, Workspaces } from "./store.svelte";
export { default as WorkspaceHeader } from "./WorkspaceHeader.svelte";
