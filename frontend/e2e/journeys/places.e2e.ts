import { access, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { write } from "../carrel";
import { useStage } from "../stage";

const stage = useStage();
const there = (path: string) => access(path).then(() => true, () => false);

// O-GIT-03
test("a workspace whose folder was deleted by hand says so, runs nothing, and is restored from its branch", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("places");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Lost folder");
  await ada.ask("Make a commit");
  const folder = await carrel.folder("lost-folder");

  await rm(folder, { recursive: true });
  await ada.page.getByRole("alert").getByText("The folder of this workspace is gone").waitFor();
  await ada.row("Lost folder").getByText("folder gone").waitFor();
  expect(await ada.composer.isDisabled()).toBe(true);

  await ada.button("Restore the folder").click();
  await ada.page.getByText("The folder of this workspace is gone").waitFor({ state: "detached" });
  expect(await readFile(join(folder, "DEMO.md"), "utf8")).toContain("Make a commit");
  await ada.ask("And another");
  expect(await carrel.git(repo, "rev-list", "--count", "main..lost-folder")).toBe("2");
  expect(await carrel.git(repo, "status", "--porcelain")).toBe("");
});

// O-GIT-22
test("a workspace whose .git is gone is registered again without touching a file", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("places");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Lost git");
  const folder = await carrel.folder("lost-git");
  await write(folder, { "mine.txt": "keep me\n" });

  await rm(join(folder, ".git"));
  await ada.page.getByRole("alert").getByText("This folder is no longer a worktree").waitFor();
  await ada.row("Lost git").getByText("git lost").waitFor();
  expect(await ada.composer.isDisabled()).toBe(true);
  await ada.button("Register it again").click();
  await ada.page.getByText("This folder is no longer a worktree").waitFor({ state: "detached" });
  expect(await carrel.git(folder, "status", "--porcelain")).toBe("?? mine.txt");
  expect(await carrel.git(folder, "branch", "--show-current")).toBe("lost-git");
  expect(await readFile(join(folder, "mine.txt"), "utf8")).toBe("keep me\n");
});

// O-GIT-02
test("a branch that is in use says where, and offers what can be done instead", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("places");
  await carrel.git(repo, "branch", "free");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "First desk");

  await ada.page.getByRole("navigation").getByRole("button", { name: "New workspace", exact: true }).click();
  const dialog = ada.dialog("New workspace");
  await dialog.getByRole("radio", { name: "Existing" }).or(dialog.getByRole("button", { name: "Existing" })).click();
  const choice = dialog.getByRole("combobox", { name: "Check out" });
  await choice.click();
  await ada.page.getByRole("option", { name: /^main/ }).getByText(`checked out in ${repo}`).waitFor();
  await ada.page.getByRole("option", { name: /^first-desk/ }).getByText("in use by First desk").click();
  await dialog.getByRole("alert").getByText("“First desk” works on it").waitFor();
  await dialog.getByRole("button", { name: "Open that workspace" }).waitFor();
  expect(await dialog.getByRole("button", { name: /Create workspace/ }).isDisabled()).toBe(true);
  await choice.click();
  await ada.page.getByRole("option", { name: /^free/ }).click();

  // Someone else was faster: the refusal names the folder, and there is a way on.
  const other = join(carrel.home, "other");
  await carrel.git(repo, "worktree", "add", "--quiet", other, "free");
  await dialog.getByRole("button", { name: /Create workspace/ }).click();
  await dialog.getByRole("alert").getByText(other).waitFor();
  await dialog.getByRole("button", { name: "New branch from it" }).click();
  await dialog.getByRole("button", { name: /Create workspace/ }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await carrel.git(other, "branch", "--show-current")).toBe("free");
  expect(await carrel.git(repo, "branch", "--show-current")).toBe("main");
});

// O-GIT-05
test("deleting lists what exists nowhere else and wants the name typed", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("places", { "README.md": "# Places\n" });
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Full of work");
  await ada.ask("Make a commit");
  const folder = await carrel.folder("full-of-work");
  await write(folder, { "README.md": "# Changed\n", "new.txt": "new\n" });

  await ada.menu("Delete…");
  const dialog = ada.dialog("Delete “Full of work”?");
  await dialog.getByText("1 commit on no other branch").waitFor();
  await dialog.getByText("Add a line to DEMO.md").waitFor();
  await dialog.getByText("1 changed file").waitFor();
  await dialog.getByText("new.txt").waitFor();
  const remove = dialog.getByRole("button", { name: "Delete", exact: true });
  expect(await remove.isDisabled()).toBe(true);
  const name = dialog.getByLabel(/^Type/);
  await name.fill("full-of");
  expect(await remove.isDisabled()).toBe(true);
  await name.fill("full-of-work");
  await remove.click();
  await dialog.waitFor({ state: "detached" });
  await ada.row("Full of work").waitFor({ state: "detached" });
  await expect.poll(() => there(folder)).toBe(false);
  await expect.poll(() => carrel.git(repo, "branch", "--list", "full-of-work")).toBe("");
  expect(await carrel.git(repo, "branch", "--show-current")).toBe("main");
});

test("a workspace is renamed, archived and brought back", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("places");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Old name");
  await ada.ask("Make a commit");
  await ada.menu(/^Rename/);
  const dialog = ada.dialog("Rename workspace");
  await dialog.getByLabel("Title").fill("New name");
  await dialog.getByLabel("Name", { exact: true }).fill("new-name");
  await dialog.getByRole("button", { name: /^Rename/ }).click();
  await dialog.waitFor({ state: "detached" });
  await ada.page.getByRole("heading", { level: 1, name: "New name" }).waitFor();
  expect(await carrel.git(await carrel.folder("new-name"), "branch", "--show-current")).toBe("new-name");
  await ada.ask("Still working");

  await ada.menu("Archive");
  const archived = ada.page.getByRole("button", { name: /^Archived/ });
  await archived.click();
  await ada.row("New name").click();
  await expect.poll(() => ada.composer.isDisabled()).toBe(true);
  await ada.menu("Bring back");
  await archived.waitFor({ state: "detached" });
  await expect.poll(() => ada.composer.isDisabled()).toBe(false);
  await ada.message("Still working").waitFor();
});

test("a project whose folder has moved is found again", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("places");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Stays");
  await carrel.stop();
  const moved = join(carrel.home, "moved here");
  await rename(repo, moved);
  await carrel.start();
  await ada.connected();
  await ada.button("Locate…").click();
  const dialog = ada.dialog("Where is places now?");
  await dialog.getByLabel("Folder", { exact: true }).fill(moved);
  await dialog.getByRole("button", { name: "Use this folder" }).click();
  await dialog.waitFor({ state: "detached" });
  await ada.button("Locate…").waitFor({ state: "detached" });
  await ada.ask("Make a commit");
  expect(await carrel.git(moved, "rev-list", "--count", "main..stays")).toBe("1");
});
