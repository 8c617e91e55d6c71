import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { write } from "../carrel";
import { useStage } from "../stage";

const stage = useStage();

test("a newcomer adds a repository by its path, and gets a branch with a commit to review", async () => {
  const carrel = await stage.carrel({ env: { CARREL_DEMO_DELAY: "4ms" } });
  const repo = await carrel.repository("greeter", { "README.md": "# Greeter\n", "src/greet.ts": "export const greet = 'hi';\n" });
  await carrel.history(repo);
  const head = await carrel.git(repo, "rev-parse", "HEAD");
  const ada = await stage.person(carrel);

  await ada.page.getByRole("heading", { name: "Point Carrel at a repository" }).waitFor();
  await ada.addProject(repo);

  const dialog = ada.dialog("New workspace");
  await dialog.getByText("A worktree of its own: your checkout stays untouched.").waitFor();
  await expect.poll(() => dialog.getByRole("combobox", { name: "Starts from" }).inputValue()).toBe("main");
  await ada.createWorkspace("Say hello nicely");

  await ada.log.getByText("The demo model answers here").waitFor();
  await ada.write("Please greet people by name");
  // Text streams in: an early piece is there while the turn still runs.
  await ada.log.getByText("This is the demo model.").waitFor();
  await ada.button(/^Stop/).waitFor();
  await ada.rest();

  // The edit opens with its diff, the other calls are one line each.
  await ada.log.getByRole("region", { name: /Change of DEMO.md/ }).or(ada.log.getByLabel("Change of DEMO.md")).getByText("Asked: “Please greet people by name”").waitFor();
  const commit = ada.tool(/Commit|git commit|git add/).last();
  await commit.click();
  await ada.log.getByLabel(/^Output of/).getByText("Add a line to DEMO.md").waitFor();

  // The changes beside it show the same, and the sidebar counts it.
  await ada.changes.getByRole("option", { name: /DEMO\.md/ }).waitFor();
  await ada.changes.getByText("Asked: “Please greet people by name”").waitFor();
  const row = ada.row("Say hello nicely");
  await row.getByText("+6").waitFor();
  await row.getByText("↑1").waitFor();

  // And git says the same of the branch, while the checkout stays as it was.
  expect(await carrel.git(repo, "log", "--format=%s", "main..say-hello-nicely")).toBe("Add a line to DEMO.md");
  expect(await carrel.git(repo, "rev-parse", "HEAD")).toBe(head);
  expect(await carrel.git(repo, "status", "--porcelain")).toBe("");
});

test("the page's own folder browser finds a repository, and a project with hooks is asked about first", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("code/with hooks", { "README.md": "# Hooks\n", ".carrel/init": "#!/bin/sh\necho ran > init-ran\necho set up by hand\n" });
  await chmod(join(repo, ".carrel/init"), 0o755);
  await carrel.git(repo, "commit", "--quiet", "--all", "-m", "Run it");
  const ada = await stage.person(carrel);

  await ada.button(/^Add a project/).last().click();
  const dialog = ada.dialog("Add a project");
  await dialog.getByRole("button", { name: "code", exact: true }).click();
  await dialog.getByRole("button", { name: "with hooks git" }).click();
  await expect.poll(() => dialog.getByLabel("Folder", { exact: true }).inputValue()).toBe(repo);
  await dialog.getByRole("button", { name: "Add project" }).click();

  // Nothing runs before the answer, and the question names what would.
  const question = ada.dialog("Do you trust with hooks?");
  await question.getByText(".carrel/init").waitFor();
  await question.getByRole("button", { name: "Not now" }).click();
  await ada.createWorkspace("Before trust");
  await ada.log.getByText("The init hook did not run: the project is not trusted.").waitFor();
  const skipped = await carrel.folder("before-trust");
  expect(await carrel.git(skipped, "status", "--porcelain")).toBe("");

  await ada.log.getByRole("button", { name: "Review…" }).click();
  await question.getByRole("button", { name: "Trust with hooks" }).click();
  await ada.log.getByRole("button", { name: "Run it", exact: true }).click();
  await ada.log.getByText("Set up by the init hook").click();
  await ada.log.getByLabel("Output of the init hook").getByText("set up by hand").waitFor();
  expect(await carrel.git(skipped, "status", "--porcelain")).toBe("?? init-ran");

  // From now on it runs by itself.
  await ada.newWorkspace("After trust");
  await ada.log.getByText("Set up by the init hook").waitFor();
  expect(await carrel.git(await carrel.folder("after-trust"), "status", "--porcelain")).toBe("?? init-ran");
});

test("a folder without git, and one that is not there, each get a plain answer", async () => {
  const carrel = await stage.carrel();
  await write(join(carrel.home, "notes"), { "todo.txt": "tea\n" });
  const ada = await stage.person(carrel);

  await ada.button("Add a project").first().click();
  const dialog = ada.dialog("Add a project");
  await dialog.getByLabel("Folder", { exact: true }).fill(join(carrel.home, "nowhere"));
  await dialog.getByRole("button", { name: "Add project" }).click();
  await dialog.getByRole("alert").filter({ hasText: "nowhere" }).waitFor();
  await dialog.getByLabel("Folder", { exact: true }).fill(join(carrel.home, "notes"));
  await dialog.getByRole("button", { name: "Add project" }).click();

  await ada.createWorkspace("In place");
  await ada.log.getByText("The agent works in the folder itself").waitFor();
  await ada.ask("Write it down");
  await ada.log.getByText("This folder is no git repository of its own").waitFor();
});
