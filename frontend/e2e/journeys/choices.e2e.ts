import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Carrel } from "../carrel";
import { write } from "../carrel";
import type { Person } from "../person";
import { useStage } from "../stage";

const stage = useStage();

/** A repository in the home folder that has files but no commit. */
async function unborn(carrel: Carrel): Promise<string> {
  const dir = join(carrel.home, "fresh");
  await mkdir(dir);
  await carrel.git(dir, "init", "--quiet");
  await write(dir, { "notes.txt": "mine\n" });
  return dir;
}

const segment = (ada: Person, name: string) => ada.dialog("New workspace").getByRole("radio", { name, exact: true });

// O-GIT-02
test("a branch that is in use is checked out detached, and deleting that lists what no branch keeps", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("choices");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Holder");
  await ada.ask("Make a commit");
  const tip = await carrel.git(repo, "rev-parse", "holder");

  await ada.page.getByRole("navigation").getByRole("button", { name: "New workspace", exact: true }).click();
  const dialog = ada.dialog("New workspace");
  await segment(ada, "Existing").click();
  await dialog.getByRole("combobox", { name: "Check out" }).click();
  await ada.page.getByRole("option", { name: /^holder/ }).click();
  await dialog.getByRole("button", { name: "Detached checkout" }).click();
  expect(await segment(ada, "None").getAttribute("aria-checked")).toBe("true");
  await ada.createWorkspace("Loose");
  await ada.row("Loose").getByText(`at ${tip.slice(0, 8)}`).waitFor();
  const folder = await carrel.folder("loose");
  expect(await carrel.git(folder, "branch", "--show-current")).toBe("");

  await ada.ask("And another commit");
  expect(await carrel.git(repo, "rev-parse", "holder")).toBe(tip);
  await ada.menu("Delete…");
  const ask = ada.dialog("Delete “Loose”?");
  await ask.getByText("1 commit on no branch").waitFor();
  expect(await ask.getByText("Keep the branch").count()).toBe(0);
  await ask.getByLabel(/^Type/).fill("loose");
  await ask.getByRole("button", { name: "Delete", exact: true }).click();
  await ask.waitFor({ state: "detached" });
  await expect.poll(() => carrel.git(repo, "branch", "--format=%(refname:short)")).toBe("holder\nmain");
});

// O-GIT-16
test("a repository without a commit gets an empty first one, and then the workspace", async () => {
  const carrel = await stage.carrel();
  const repo = await unborn(carrel);
  const ada = await stage.person(carrel);
  await ada.addProject(repo);
  const dialog = ada.dialog("New workspace");
  await dialog.getByRole("alert").getByText("fresh has no commit yet").waitFor();
  // Nothing is done in the folder itself unless that is chosen.
  expect(await dialog.getByRole("button", { name: /Create workspace/ }).isDisabled()).toBe(true);
  await dialog.getByRole("button", { name: "Work in the folder" }).click();
  expect(await dialog.getByRole("button", { name: /Create workspace/ }).isDisabled()).toBe(false);
  await segment(ada, "Own worktree").click();

  await dialog.getByRole("button", { name: "Make an empty first commit" }).click();
  await dialog.getByText("fresh has no commit yet").waitFor({ state: "detached" });
  await ada.createWorkspace("First desk");
  expect(await carrel.git(repo, "log", "--format=%an %s")).toBe("Ada Initial commit");
  expect(await carrel.git(repo, "status", "--porcelain")).toBe("?? notes.txt");
  await ada.ask("Make a commit");
  expect(await carrel.git(repo, "rev-list", "--count", "main..first-desk")).toBe("1");
  expect(await carrel.git(repo, "rev-list", "--count", "main")).toBe("1");
});

// O-GIT-16
test("without a name to commit under the first commit says how to give one", async () => {
  const carrel = await stage.carrel();
  await writeFile(join(carrel.home, ".gitconfig"), "[init]\n\tdefaultBranch = main\n");
  const repo = await unborn(carrel);
  const ada = await stage.person(carrel);
  await ada.addProject(repo);
  const dialog = ada.dialog("New workspace");
  await dialog.getByRole("button", { name: "Make an empty first commit" }).click();
  await dialog.getByText("git config --global user.name").waitFor();
  await carrel.git(repo, "config", "user.name", "Ada");
  await carrel.git(repo, "config", "user.email", "ada@example.org");
  await dialog.getByRole("button", { name: "Make an empty first commit" }).click();
  await dialog.getByText("fresh has no commit yet").waitFor({ state: "detached" });
});

test("the sidebar and the changes count the same lines, those of new files too", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("choices", { "README.md": "# Choices\n" });
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Counting");
  const folder = await carrel.folder("counting");
  await write(folder, { "README.md": "# Choices\n\nAnother line.\n", "new/a.txt": "1\n2\n3\n", "new/b.txt": "1" });
  await ada.menu("Ask git again");
  await ada.row("Counting").getByText("+6", { exact: true }).waitFor();
  await ada.changes.locator(".sum").getByText("+6", { exact: true }).waitFor();
  await write(folder, { "new/b.txt": "1\n2\n3\n" });
  await ada.changes.getByRole("button", { name: "Read again" }).click();
  await ada.row("Counting").getByText("+8", { exact: true }).waitFor();
  await ada.changes.locator(".sum").getByText("+8", { exact: true }).waitFor();
});

test("a hook that failed is told with its exit code", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("choices");
  await mkdir(join(repo, ".carrel"));
  await writeFile(join(repo, ".carrel", "init"), "#!/bin/sh\nexit 3\n", { mode: 0o755 });
  await carrel.command(["trust", "--dir", repo]);
  const ada = await stage.person(carrel);
  await ada.newWorkspace("Hooked");
  await ada.log.getByText("The init hook failed with exit code 3.").waitFor();
});

test("a dark page on a light system is dark from its first paint on", async () => {
  const carrel = await stage.carrel();
  await writeFile(join(carrel.root, "settings.jsonc"), '{ "theme": "dark" }', { mode: 0o600 });
  const ada = await stage.person(carrel, { colorScheme: "light" });
  await ada.page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const look = () => seen.push(document.documentElement.dataset["theme"] ?? "none");
    // The first frame comes after the scripts and styles of the head.
    const frame = () => {
      if (document.body) look();
      if (seen.length < 30) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await ada.page.reload();
  await ada.connected();
  await expect.poll(() => ada.page.evaluate(() => (window as unknown as { seen: string[] }).seen.length)).toBe(30);
  const seen = await ada.page.evaluate(() => (window as unknown as { seen: string[] }).seen);
  expect(new Set(seen)).toEqual(new Set(["dark"]));

  // Chosen anew, it is so from the next load on.
  await ada.button("Settings").click();
  await ada.dialog("Settings").getByLabel("Theme").click();
  await ada.page.getByRole("option", { name: "Like the system" }).click();
  await expect.poll(() => ada.page.evaluate(() => document.documentElement.dataset["theme"])).toBe("light");
});

// O-GIT-21
test("when the branch that a workspace is compared with is deleted, another one is chosen", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("based");
  await carrel.git(repo, "branch", "topic");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Desk");
  await ada.ask("Make a commit");
  await carrel.command(["workspace", "base", "desk", "topic"]);
  await ada.changes.getByText("against topic").waitFor();

  await carrel.git(repo, "branch", "-D", "topic");
  await ada.changes.getByText("Its base is gone").waitFor();
  await ada.changes.getByRole("button", { name: "Compare", exact: true }).click();
  await ada.changes.getByText("against main").waitFor();
  await ada.changes.getByText("DEMO.md").first().waitFor();
});
