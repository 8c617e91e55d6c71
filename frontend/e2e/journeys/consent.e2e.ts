import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults } from "../faults";
import type { Answer } from "../model";
import { useStage } from "../stage";

const stage = useStage();

test("the agent asks before it runs a command; once, always and no do what they say", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model, env: { CARREL_MODE: "" } });
  const repo = await carrel.repository("careful", { "README.md": "# A\n" });
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Ask me");
  const run = (script: string): Answer => (say) => say.call("bash", { script, timeout_secs: 10, display_name: "Test" });
  model.answers(run("git init made"), run("git init made"), run("git init other"), (say) => say.text("All said."));
  await ada.write("Go");

  const question = ada.page.getByRole("region", { name: "The agent asks" });
  await question.getByText("Run this?").waitFor();
  await question.getByText("git init made", { exact: true }).waitFor();
  await ada.page.getByText("asks you").first().waitFor();
  await question.getByRole("button", { name: "Always in this project" }).click();

  // The same command runs by itself now; another one asks, and is refused with a word.
  await question.getByText("git init other", { exact: true }).waitFor();
  await question.getByRole("button", { name: "No" }).click();
  await question.getByRole("textbox", { name: "What to tell the agent" }).fill("not that one");
  await question.getByRole("button", { name: "Refuse" }).click();
  await ada.page.getByText("All said.").waitFor();
  await question.waitFor({ state: "detached" });
  expect(model.asked.at(-1)?.results.at(-1)).toContain("not that one");

  // What begins like it can be saved where that is safe, and taken back from where it is listed.
  model.answers(run("git add README.md"), run("git add ."), (say) => say.text("Added."));
  await ada.write("Add");
  await question.getByRole("radio", { name: "What begins like it" }).click();
  await question.getByText("Bash(git add:*)").waitFor();
  await question.getByRole("button", { name: "Always in this project" }).click();
  await ada.page.getByText("Added.", { exact: true }).waitFor();
  await ada.page.getByRole("button", { name: /^Sandbox: / }).click();
  const rules = ada.changes.getByRole("region", { name: "Rules" });
  await rules.getByText("Bash(git add:*)").waitFor();
  expect(await faults(ada, "the list of rules")).toEqual([]);
  await rules.getByRole("button", { name: "Remove Bash(git add:*)" }).click();
  await rules.getByText("Bash(git add:*)").waitFor({ state: "detached" });

  // The mode is beside the model.
  await ada.page.getByRole("button", { name: "Mode: Ask" }).click();
  await ada.page.getByRole("menuitemradio", { name: /Accept edits/ }).click();
  await ada.page.getByRole("button", { name: "Mode: Accept edits" }).waitFor();
});

test("a question outlives kill -9, and its answer goes on with the turn", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model, env: { CARREL_MODE: "" } });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("patient"), "Ask me");
  model.answers(
    (say) => say.call("bash", { script: "echo ran >> runs.txt", timeout_secs: 10, display_name: "Count" }),
    (say) => say.text("Gone on."),
  );
  await ada.write("Go");
  const question = ada.page.getByRole("region", { name: "The agent asks" });
  await question.getByText("runs.txt").first().waitFor();

  await carrel.kill();
  await ada.page.getByText("Not connected to Carrel.").waitFor();
  await carrel.start();
  await ada.connected();
  await question.getByText("runs.txt").first().waitFor();
  await question.getByRole("button", { name: "Allow once" }).click();
  await ada.log.getByText("Gone on.").waitFor();
  await question.waitFor({ state: "detached" });
  expect(await readFile(join(await carrel.folder("ask-me"), "runs.txt"), "utf8")).toBe("ran\n");
  expect(model.asked).toHaveLength(2);
});
