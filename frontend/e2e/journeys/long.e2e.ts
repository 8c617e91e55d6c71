import { expect, test } from "vitest";
import { gate, type Say } from "../model";
import type { Person } from "../person";
import { settled } from "../settled";
import { useStage } from "../stage";
import { answer, question, writeTurns } from "../transcript";

const stage = useStage();

/** Where the message is on the screen, in pixels from the top; undefined when it is not drawn. */
const topOf = (person: Person, text: string) =>
  person.log.evaluate((log, wanted) => [...log.querySelectorAll(".user")].find((one) => one.textContent?.includes(wanted))?.getBoundingClientRect().top, text);

/** The newest message of the person that is wholly in view. */
const inView = (person: Person) =>
  person.log.evaluate((log) => {
    const box = log.getBoundingClientRect();
    const seen = [...log.querySelectorAll(".user")].filter((one) => one.getBoundingClientRect().top >= box.top && one.getBoundingClientRect().bottom <= box.bottom);
    return /Question \d+:/.exec(seen[0]?.textContent ?? "")?.[0] ?? "";
  });

test("a conversation of 20,000 messages opens at its end and scrolls back page by page", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("year");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "A year of work");
  await ada.page.goto("about:blank");
  await carrel.stop();
  await writeTurns(await carrel.session(), 10_000);
  await carrel.start();

  // The first time the log has no index yet; the benchmarks measure that its length does not count later.
  for (let time = 0; time < 2; time++) {
    await ada.page.goto("about:blank");
    await ada.page.goto(carrel.link);
    await ada.log.getByText(answer(10_000)).waitFor();
  }
  const drawn = await ada.log.locator(".user").count();
  expect(drawn).toBeLessThan(60);

  // Going up loads older pages in front, and what is in view moves with the wheel and no other way.
  await ada.log.hover();
  await ada.page.mouse.wheel(0, -100);
  await ada.button(/^Latest/).waitFor();
  const turn = 250;
  for (let page = 0; page < 4; page++) {
    // Rows that were never drawn are measured on the way, which takes a second look.
    for (let look = 0; look < 2; look++) {
      await settled(ada.log);
      await ada.log.evaluate((log) => log.scrollTo(0, 1000));
    }
    await settled(ada.log);
    const height = await ada.log.evaluate((log) => log.scrollHeight);
    const anchor = await inView(ada);
    const before = (await topOf(ada, anchor)) ?? Number.NaN;
    await ada.page.mouse.wheel(0, -turn);
    await expect.poll(() => ada.log.evaluate((log) => log.scrollHeight)).toBeGreaterThan(height + 1000);
    await settled(ada.log);
    expect(((await topOf(ada, anchor)) ?? Number.NaN) - before - turn).toBeCloseTo(0, -1);
  }
  expect(Number(/\d+/.exec(await inView(ada))?.[0])).toBeLessThan(9850);
  await ada.button(/^Latest/).click();
  await ada.log.getByText(answer(10_000)).waitFor();
  await ada.log.getByText(question(10_000)).waitFor();
  await ada.button(/^Latest/).waitFor({ state: "detached" });
});

test("a search hit far back is gone to at once, and from there one reads on to the end", async () => {
  const carrel = await stage.carrel();
  const repo = await carrel.repository("far");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Far back");
  await ada.page.goto("about:blank");
  await carrel.stop();
  await writeTurns(await carrel.session(), 1500);
  await carrel.start();
  const pages: string[] = [];
  ada.page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => String(payload).includes('"conversations.page"') && pages.push(String(payload))));
  await ada.page.goto(carrel.link);
  await ada.log.getByText(answer(1500)).waitFor();

  await ada.page.keyboard.press("Control+Shift+F");
  const search = ada.dialog("Search all conversations");
  await search.getByRole("combobox").fill('"question 40"');
  await search.getByRole("option").filter({ hasText: "You" }).click();
  await ada.message(question(40)).waitFor();
  await settled(ada.log);
  const top = (await topOf(ada, question(40))) ?? Number.NaN;
  expect(top).toBeGreaterThan(0);
  expect(top).toBeLessThan(800);
  expect(pages.filter((one) => one.includes('"around"'))).toHaveLength(1);
  expect(pages.length).toBeLessThan(4);
  expect(await ada.log.getByText(answer(1500)).count()).toBe(0);

  // Reading on loads what follows, and the end of what is there is not taken for the end.
  await ada.log.hover();
  const seen = async () => Number(/\d+/.exec(await inView(ada))?.[0] ?? 0);
  await expect.poll(async () => (await ada.page.mouse.wheel(0, 1500), seen()), { interval: 50 }).toBeGreaterThan(150);
  expect(await ada.log.getByText(answer(1500)).count()).toBe(0);
  await ada.button(/^Latest/).click();
  await ada.log.getByText(answer(1500)).waitFor();
  await ada.button(/^Latest/).waitFor({ state: "detached" });

  // What is sent from far back is seen.
  await ada.page.keyboard.press("Control+Shift+F");
  await search.getByRole("combobox").fill('"question 700"');
  await search.getByRole("option").filter({ hasText: "You" }).click();
  await ada.message(question(700)).waitFor();
  await ada.ask("And now?");
  await ada.message("And now?").waitFor();
});

test("nothing jumps while text streams in", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const repo = await carrel.repository("steady");
  const ada = await stage.person(carrel);
  await ada.settle(repo, "Steady");
  await ada.page.goto("about:blank");
  await carrel.stop();
  await writeTurns(await carrel.session(), 60);
  await carrel.start();
  await ada.page.goto(carrel.link);
  await ada.log.getByText(answer(60)).waitFor();

  const doors = [gate(), gate()];
  const paragraph = "A paragraph that grows, word by word, until it takes several lines of the window. ".repeat(4);
  model.answers(async (say) => {
    for (const door of doors) {
      for (let i = 0; i < 8; i++) await pace(say, `${paragraph}\n\n- one\n- two\n\n\`\`\`go\nfunc f() {}\n\`\`\`\n\n`);
      say.text("Waiting here.\n\n");
      await door.opened;
    }
    say.text("The very end.");
  });

  // At the end the view follows, frame by frame.
  await settled(ada.log);
  await watchFrames(ada);
  await ada.write("Write a lot");
  await ada.log.getByText("Waiting here.").waitFor();
  const followed = await frames(ada);
  expect(Math.max(...followed.map((frame) => frame.toEnd))).toBeLessThan(2);

  // Reading further up, it stays put whatever comes below.
  await ada.page.mouse.move(600, 300);
  await ada.page.mouse.wheel(0, -1500);
  await ada.button(/^Latest/).waitFor();
  await settled(ada.log);
  await watchFrames(ada);
  doors[0]?.open();
  const height = await ada.log.evaluate((log) => log.scrollHeight);
  await expect.poll(() => ada.log.evaluate((log) => log.scrollHeight)).toBeGreaterThan(height + 1000);
  doors[1]?.open();
  await ada.rest();
  const read = await frames(ada);
  expect(read.length).toBeGreaterThan(3);
  expect(new Set(read.map((frame) => Math.round(frame.top))).size).toBe(1);
  await ada.button(/^Latest/).click();
  await ada.log.getByText("The very end.").waitFor();
});

/** Says the text as a model does: a few characters at a time. */
async function pace(say: Say, text: string): Promise<void> {
  for (const piece of text.match(/[\s\S]{1,24}/g) ?? []) {
    say.text(piece);
    await new Promise((done) => setTimeout(done, 5));
  }
}

interface Frame {
  top: number;
  toEnd: number;
}

/** Notes for every frame that is drawn where the view is; frames() ends it. */
async function watchFrames(person: Person): Promise<void> {
  await person.log.evaluate((log) => {
    const notes: Frame[] = [];
    let drawn: Frame | undefined;
    // It comes after the page's own observers, so it sees what the frame will show.
    const observer = new ResizeObserver(() => (drawn = { top: log.scrollTop, toEnd: log.scrollHeight - log.scrollTop - log.clientHeight }));
    if (log.firstElementChild) observer.observe(log.firstElementChild);
    const look = () => {
      if (drawn) notes.push(drawn);
      drawn = undefined;
      if (!(log as { stopped?: boolean }).stopped) requestAnimationFrame(look);
      else observer.disconnect();
    };
    Object.assign(log, { stopped: false, notes });
    requestAnimationFrame(look);
  });
}

function frames(person: Person): Promise<Frame[]> {
  return person.log.evaluate((log) => {
    Object.assign(log, { stopped: true });
    return (log as unknown as { notes: Frame[] }).notes;
  });
}
