import { expect, test } from "vitest";
import { faults } from "../faults";
import type { Person } from "../person";
import { settled } from "../settled";
import { useStage } from "../stage";
import { answer, question, writeTurns } from "../transcript";

const stage = useStage();

/** How many places are marked. */
const marks = (person: Person) => person.page.evaluate(() => CSS.highlights.get("found")?.size ?? 0);

test("a text is found in the whole conversation, from the newest on, and marked", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("deep"), "Deep");
  await ada.page.goto("about:blank");
  await carrel.stop();
  await writeTurns(await carrel.session(), 3000);
  await carrel.start();
  await ada.page.goto(carrel.link);
  await ada.log.getByText(answer(3000)).waitFor();

  await ada.page.keyboard.press("Control+F");
  const bar = ada.page.getByRole("search", { name: "Find in this conversation" });
  const field = bar.getByRole("textbox");
  await field.pressSequentially("answer 12.");
  await bar.getByText("1 of 1", { exact: true }).waitFor();
  await ada.log.getByText(answer(12)).waitFor();
  await expect.poll(() => marks(ada)).toBe(1);
  expect(await ada.log.getByText(answer(3000)).count()).toBe(0);

  // From one to the next: Enter goes to older ones, and past the end it begins anew.
  await field.fill("QUESTION 29");
  await bar.getByText("1 of 111", { exact: true }).waitFor();
  await ada.message(question(2999)).waitFor();
  await field.press("Enter");
  await ada.message(question(2998)).waitFor();
  await bar.getByText("2 of 111", { exact: true }).waitFor();
  await field.press("Shift+Enter");
  await field.press("Shift+Enter");
  await bar.getByText("111 of 111", { exact: true }).waitFor();
  await ada.message(question(29)).waitFor();
  await field.fill("there is nothing like it");
  await bar.getByText("Nothing found").waitFor();
  expect(await faults(ada, "find")).toEqual([]);
  await field.press("Escape");
  await bar.waitFor({ state: "detached" });
  await expect.poll(() => marks(ada)).toBe(0);
});

/** The menu of the answer that holds the text. */
async function act(person: Person, text: string, item: string): Promise<void> {
  await settled(person.log);
  const row = person.log.locator(".entry", { hasText: text });
  await row.hover();
  await row.getByRole("button", { name: "Actions for this answer" }).click();
  await person.page.getByRole("menuitem", { name: item }).click();
}

test("a conversation starts from an answer, takes it back, and is forked where it was", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("paths"), "Paths");
  model.answers((say) => say.text("The first plan."), (say) => say.text("The second plan."));
  await ada.ask("Plan it");
  await ada.ask("Plan it again");

  await act(ada, "The first plan.", "Show the records");
  const records = ada.dialog("Records of this message");
  await records.getByText("assistant", { exact: true }).first().waitFor();
  await records.getByText("The first plan.").waitFor();
  expect(await faults(ada, "records")).toEqual([]);
  await ada.page.keyboard.press("Escape");
  await records.waitFor({ state: "detached" });

  await act(ada, "The first plan.", "Start here");
  await ada.button("Undo").click();
  await ada.button("Undo").waitFor({ state: "detached" });
  await ada.ask("All of it?");
  expect(JSON.stringify(model.asked.at(-1)?.body)).toContain("The second plan.");
  await act(ada, "The first plan.", "Start here");
  await ada.log.getByText("The model goes on from this alone.").waitFor();
  await ada.ask("Go on");
  const sent = JSON.stringify(model.asked.at(-1)?.body);
  expect(sent).toContain("The first plan.");
  expect(sent).not.toContain("The second plan.");
  await ada.button("Undo").waitFor({ state: "detached" });

  await act(ada, "The second plan.", "Fork here…");
  const dialog = ada.dialog(/^Fork/);
  await dialog.getByLabel("Name").fill("other-way");
  await dialog.getByRole("button", { name: /Fork/ }).click();
  await dialog.waitFor({ state: "detached" });
  await ada.log.getByText("Forked from").waitFor();
  expect(await ada.said()).toEqual(["Plan it", "Plan it again"]);
});
