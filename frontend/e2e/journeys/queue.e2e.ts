import { expect, test } from "vitest";
import { gate, type Answer } from "../model";
import { useStage } from "../stage";

const stage = useStage();

/** An answer that goes on until the journey opens its door. */
function held(): { answer: Answer; open: () => void } {
  const door = gate();
  return {
    open: door.open,
    answer: async (say, asked) => {
      say.text(`I am at ${asked.prompt}.`);
      await door.opened;
      say.text(" That is finished.");
    },
  };
}

test("what is written during a turn waits, can be taken back, and is sent after it", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const repo = await carrel.repository("queue");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "One after another");

  const first = held();
  model.answers(first.answer);
  await ada.write("the first thing");
  await ada.log.getByText("I am at the first thing.").waitFor();
  for (const text of ["a second thing", "a third thing", "a fourth thing"]) {
    await ada.write(text);
    await ada.waiting.getByText(text).waitFor();
  }
  await ada.waiting.getByText("3 messages to be sent after this turn").waitFor();
  await ada.waiting.getByRole("listitem").filter({ hasText: "a third thing" }).getByRole("button", { name: "Remove from the queue" }).click();
  await ada.waiting.getByText("2 messages to be sent after this turn").waitFor();

  first.open();
  await ada.waiting.waitFor({ state: "detached" });
  await ada.rest();
  await expect.poll(() => ada.said()).toEqual(["the first thing", "a second thing", "a fourth thing"]);
  expect(model.asked.map((asked) => asked.prompt)).toEqual(["the first thing", "a second thing\na fourth thing"]); // together
});

// O-DESK-04
test("a queue outlives another workspace, a reload and a restart, and is delivered once and in order", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const repo = await carrel.repository("queue");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Elsewhere");
  await ada.newWorkspace("Here");

  model.answers(held().answer);
  await ada.write("zero");
  await ada.log.getByText("I am at zero.").waitFor();
  for (const text of ["A", "B", "C"]) await ada.write(text);
  const waiting = async () => expect.poll(() => ada.waiting.getByRole("listitem").allInnerTexts()).toEqual(["A", "B", "C"]);
  await waiting();
  await ada.composer.fill("a draft that is not sent");

  await ada.row("Elsewhere").click();
  await ada.page.getByRole("heading", { level: 1, name: "Elsewhere" }).waitFor();
  expect(await ada.waiting.count()).toBe(0);
  await ada.row("Here").click();
  await waiting();
  expect(await ada.composer.inputValue()).toBe("a draft that is not sent");

  await ada.page.reload();
  await waiting();
  await ada.log.getByText("I am at zero.").waitFor();

  await carrel.stop();
  await carrel.start();
  await ada.connected();
  await waiting();
  await ada.waiting.getByText("3 messages waiting for you").waitFor();
  expect(model.asked.map((asked) => asked.prompt)).toEqual(["zero"]);

  await ada.waiting.getByRole("button", { name: "Send now" }).click();
  await ada.waiting.waitFor({ state: "detached" });
  await ada.rest();
  await expect.poll(() => ada.said()).toEqual(["zero", "A", "B", "C"]);
  expect(model.asked.map((asked) => asked.prompt)).toEqual(["zero", "A\nB\nC"]);
});
