// What a new workspace can stand on.
import type { Branches, Workspace } from "../../host/host";
import type { Option } from "../../ui/Select.svelte";

/** Existing branches to check out; held ones are shown with the reason and cannot be chosen. */
export function branchOptions(branches: Branches, workspaces: Workspace[]): Option[] {
  const held = new Map((branches.heldBy ?? []).map((one) => [one.branch, one]));
  return (branches.local ?? []).map((name) => {
    const holder = held.get(name);
    if (!holder) return { value: name, label: name };
    const title = workspaces.find((one) => one.id === holder.workspace)?.title;
    return { value: name, label: name, disabled: true, note: title ? `in use by ${title}` : `checked out in ${holder.dir}` };
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
