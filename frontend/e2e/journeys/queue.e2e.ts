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
  await ada.waiting.getByText("3 messages waiting", { exact: true }).waitFor();
  await ada.waiting.getByRole("listitem").filter({ hasText: "a third thing" }).getByRole("button", { name: "Remove from the queue" }).click();
  await ada.waiting.getByText("2 messages waiting").waitFor();

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
  const waiting = async () => expect.poll(() => ada.waiting.getByRole("listitem").locator(".text").allInnerTexts()).toEqual(["A", "B", "C"]);
  await waiting();
  await ada.composer.fill("a draft that is not sent");

  await ada.row("Elsewhere").click();
  await ada.page.getByRole("heading", { level: 1, name: "Elsewhere" }).waitFor();
  expect(await ada.waiting.count()).toBe(0);
  await ada.row("Here").click();
  await waiting();
  expect(await ada.written()).toBe("a draft that is not sent");

  await ada.page.reload();
  await waiting();
  await expect.poll(() => ada.written()).toBe("a draft that is not sent");
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

test("waiting messages are edited in place, put in another order, and told when to go out", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("queue"), "In another order");

  const first = held();
  model.answers(first.answer);
  await ada.write("start");
  await ada.log.getByText("I am at start.").waitFor();
  const texts = () => ada.waiting.getByRole("listitem").locator(".text").allInnerTexts();
  for (const [index, text] of ["A", "B", "C"].entries()) {
    await ada.composer.fill(text);
    // The second goes out after the turn, by its key.
    await ada.composer.press(index === 1 ? "Control+Enter" : "Enter");
    await expect.poll(texts).toHaveLength(index + 1);
  }
  const item = (text: string) => ada.waiting.getByRole("listitem").filter({ has: ada.page.getByText(text, { exact: true }) });
  await item("B").getByText("after turn").waitFor();
  await item("C").getByText("after step").click();
  await item("C").getByText("after turn").waitFor();
  await item("C").getByText("after turn").click();
  await item("C").getByText("after step").waitFor();

  await item("A").locator(".text").click();
  const box = ada.waiting.getByRole("textbox", { name: "Waiting message" });
  await box.fill("A, but better");
  await box.press("Enter");
  await expect.poll(texts).toEqual(["A, but better", "B", "C"]);

  // Up, by the keyboard; the focus goes along.
  await item("C").getByRole("button", { name: /^Move/ }).focus();
  await ada.page.keyboard.press("Alt+ArrowUp");
  await expect.poll(texts).toEqual(["A, but better", "C", "B"]);
  await expect.poll(() => item("C").locator(".handle").evaluate((handle) => handle === document.activeElement)).toBe(true);
  await ada.page.keyboard.press("Alt+ArrowUp");
  await expect.poll(texts).toEqual(["C", "A, but better", "B"]);
  // Down, by the mouse.
  const from = await item("C").getByRole("button", { name: /^Move/ }).boundingBox();
  const to = await item("A, but better").boundingBox();
  if (!from || !to) throw new Error("the queue is not to be seen");
  await ada.page.mouse.move(from.x + 5, from.y + 8);
  await ada.page.mouse.down();
  await ada.page.mouse.move(from.x + 5, to.y + to.height - 2, { steps: 4 });
  await ada.page.mouse.up();
  await expect.poll(texts).toEqual(["A, but better", "C", "B"]);

  first.open();
  await ada.waiting.waitFor({ state: "detached" });
  await ada.rest();
  await expect.poll(() => ada.said()).toEqual(["start", "A, but better", "C", "B"]);
  expect(model.asked.map((asked) => asked.prompt)).toEqual(["start", "A, but better\nC", "B"]);
});
