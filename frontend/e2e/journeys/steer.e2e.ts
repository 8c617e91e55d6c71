import { expect, test } from "vitest";
import type { Answer } from "../model";
import { useStage } from "../stage";

const stage = useStage();

/** Too much to do, and asks to wait for most of a minute: longer than any journey does. */
const overloaded: Answer = (say) => say.refuse(529, "overloaded_error", "Overloaded", { "retry-after": "55" });

test("a request that failed is tried again, with a countdown that one can cut short or end", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("again"), "Try again");
  const strip = ada.page.getByRole("region", { name: "Trying again" });

  model.answers(overloaded);
  await ada.write("Hello");
  await strip.getByText("Anthropic is overloaded.").waitFor();
  const left = async () => Number(/in (\d+) s \(attempt 2 of/.exec(await strip.innerText())?.[1]);
  const before = await left();
  expect(before).toBeGreaterThan(0);
  await expect.poll(left).toBeLessThan(before);
  await ada.row("Try again").getByText("waiting to try again").waitFor();
  await strip.getByRole("button", { name: "Try now" }).click();
  await ada.log.getByText("Done.").waitFor();
  await strip.waitFor({ state: "detached" });

  model.answers(overloaded);
  await ada.write("And again");
  await strip.waitFor();
  await ada.page.keyboard.press("Control+c");
  await strip.waitFor({ state: "detached" });
  await ada.log.getByRole("button", { name: "Try again" }).click();
  await expect.poll(() => ada.log.getByText("Done.").count()).toBe(2);
  await ada.rest();
  // Nothing was said twice, and nothing was said for the person.
  await expect.poll(() => ada.said()).toEqual(["Hello", "And again"]);
  expect(model.asked).toHaveLength(4);
});

test("a past message is said anew; what followed is left, also for the model", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("edit"), "Said anew");
  model.answers((say) => say.text("The first answer."), (say) => say.text("The second answer."), (say) => say.text("Another answer."));
  await ada.ask("Make it blue");
  await ada.ask("Now wider");

  const message = ada.message("Make it blue");
  await message.hover();
  await ada.log.getByRole("button", { name: "Edit", exact: true }).first().click();
  const box = ada.log.getByRole("textbox", { name: "Your message" });
  await ada.log.getByText("What follows this message is left out. Files in the workspace stay as they are.").waitFor();
  await box.press("Escape");
  await message.waitFor();

  await message.hover();
  await ada.log.getByRole("button", { name: "Edit", exact: true }).first().click();
  await box.fill("Make it green");
  await box.press("Enter");
  await ada.log.getByText("Another answer.").waitFor();
  await ada.rest();
  await expect.poll(() => ada.said()).toEqual(["Make it green"]);
  expect(await ada.log.getByText("The first answer.").count()).toBe(0);
  expect(JSON.stringify(model.asked.at(-1)?.body)).not.toContain("Make it blue");

  // The arrow up in an empty box takes the last message, and a reload shows the same.
  await ada.composer.press("ArrowUp");
  await expect.poll(() => box.inputValue()).toBe("Make it green");
  await box.press("Escape");
  await ada.page.reload();
  await ada.log.getByText("Another answer.").waitFor();
  await expect.poll(() => ada.said()).toEqual(["Make it green"]);
});

test("starting anew keeps what was said in sight, clearing does not; the model knows neither", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("clear"), "A clean table");
  await ada.ask("The word is walrus");

  // Completed from the hints.
  await ada.composer.pressSequentially("/cl");
  const hints = ada.page.getByRole("listbox", { name: "Commands" });
  await hints.getByText("/clear --soft").waitFor();
  await ada.composer.press("ArrowDown");
  await ada.composer.press("Tab");
  expect(await ada.written()).toBe("/clear --soft");
  await ada.composer.press("Enter");
  await ada.log.getByText("Started anew. The model does not know what stands above.").waitFor();
  await ada.ask("What is the word?");
  await expect.poll(() => ada.said()).toEqual(["The word is walrus", "What is the word?"]);
  expect(JSON.stringify(model.asked.at(-1)?.body)).not.toContain("walrus");

  await ada.write("/clear");
  await expect.poll(() => ada.said()).toEqual([]);
  await ada.ask("And now?");
  await expect.poll(() => ada.said()).toEqual(["And now?"]);
  expect(JSON.stringify(model.asked.at(-1)?.body)).not.toContain("What is the word?");
  expect(model.asked).toHaveLength(3);
});

test("a fork goes on from the conversation, on a branch of its own", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const repo = await carrel.repository("fork");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "The trunk");
  await ada.ask("Remember the heron");

  await ada.composer.fill("/fork the-branch\n\nWhat should you remember?");
  await ada.composer.press("Enter");
  await ada.page.getByRole("heading", { level: 1, name: "the-branch" }).waitFor();
  await expect.poll(() => ada.said()).toEqual(["Remember the heron", "What should you remember?"]);
  await ada.log.getByText(/Forked from/).waitFor();
  await ada.rest();
  const asked = JSON.stringify(model.asked.at(-1)?.body);
  expect(asked).toContain("Remember the heron");
  expect(await carrel.git(repo, "branch", "--list", "the-branch")).toContain("the-branch");

  await ada.row("The trunk").click();
  await ada.page.getByRole("heading", { level: 1, name: "The trunk" }).waitFor();
  await expect.poll(() => ada.said()).toEqual(["Remember the heron"]);
  expect(await ada.written()).toBe("");

  await ada.menu("Fork…");
  const dialog = ada.dialog(/^Fork/);
  await dialog.getByLabel("Name").fill("Third Way");
  await dialog.getByText("It becomes third-way.").waitFor();
  await dialog.getByRole("button", { name: /^Fork/ }).click();
  await ada.page.getByRole("heading", { level: 1, name: "third-way" }).waitFor();
});

test("model and level are chosen beside the box, and for one message in it", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("level"), "How hard");
  const effort = () => (model.asked.at(-1)?.body["output_config"] as { effort?: string } | undefined)?.effort;

  await ada.write("/model opus");
  await ada.page.getByRole("main").getByLabel("Model", { exact: true }).getByText(/Opus/).waitFor();
  await ada.button(/^Thinking: Default/).click();
  await ada.page.getByRole("menuitemradio", { name: "Low" }).click();
  await ada.button("Thinking: Low").waitFor();
  await ada.ask("A small thing");
  expect(effort()).toBe("low");

  await ada.ask("/+max A large thing");
  expect(effort()).toBe("max");
  expect(model.asked.at(-1)?.prompt).toBe("A large thing");
  await ada.log.getByTitle("For this message alone").getByText("max").waitFor();
  await ada.page.keyboard.press("Control+Shift+BracketRight");
  await ada.button("Thinking: Medium").waitFor();
  await ada.ask("A middling thing");
  expect(effort()).toBe("medium");
});
