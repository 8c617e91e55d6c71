// What a new workspace can stand on.
import type { Branches, Workspace } from "../../host/host";
import type { Option } from "../../ui/Select.svelte";

/** Who has a branch: another workspace, or some folder. */
export interface Holder {
  dir: string;
  workspace?: Workspace | undefined;
}

/** Who has the branch checked out, if anyone. */
export function holderOf(branches: Branches | undefined, name: string, workspaces: Workspace[]): Holder | undefined {
  const held = branches?.heldBy?.find((one) => one.branch === name);
  return held && { dir: held.dir, workspace: workspaces.find((one) => one.id === held.workspace) };
}

/** Existing branches to check out; those in use say where. */
export function branchOptions(branches: Branches, workspaces: Workspace[]): Option[] {
  return (branches.local ?? []).map((name) => {
    const holder = holderOf(branches, name, workspaces);
    if (!holder) return { value: name, label: name };
    return { value: name, label: name, note: holder.workspace ? `in use by ${holder.workspace.title || holder.workspace.name}` : `checked out in ${holder.dir}` };
  });
}

/** Where a new branch can start: any branch, here or on a remote. */
export function baseOptions(branches: Branches): Option[] {
  const options: Option[] = [];
  if (branches.current) options.push({ value: branches.current, label: branches.current, note: "checked out" });
  for (const name of branches.local ?? []) if (name !== branches.current) options.push({ value: name, label: name });
  for (const name of branches.remote ?? []) options.push({ value: name, label: name, note: "remote" });
  return options;
}

/** A branch and folder name made from what the person typed; "" when nothing is left of it. */
export function slug(title: string): string {
  return title
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 48)
    .replace(/-+$/, "");
}
