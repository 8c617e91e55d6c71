import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { running } from "../carrel";
import { gate, type Answer } from "../model";
import { useStage } from "../stage";

const stage = useStage();

/** Numbered words at a steady pace, and when each was said. */
function counting(pace: number, until = Number.POSITIVE_INFINITY): { answer: Answer; saidBy: (time: number) => number } {
  const times: number[] = [];
  return {
    answer: (say) =>
      new Promise<void>((done) => {
        const timer = setInterval(() => {
          say.text(`w${times.length} `);
          times.push(Date.now());
          if (times.length < until) return;
          clearInterval(timer);
          done();
        }, pace);
      }),
    saidBy: (time) => times.filter((at) => at <= time).length,
  };
}

/** The numbers of the words in a text, which must count up from nothing. */
function counted(text: string): number {
  const words = [...text.matchAll(/\bw(\d+)\b/g)].map((match) => Number(match[1]));
  expect(words).toEqual(words.map((_, index) => index));
  return words.length;
}

test("kill -9 in the middle of an answer loses at most the last half second", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("crash"), "Counting");
  const count = counting(10);
  model.answers(count.answer);
  await ada.write("Count");
  await ada.log.getByText("w120 ").waitFor();

  const killed = Date.now();
  await carrel.kill();
  // The page says so, keeps what it has, and what is written meanwhile is not lost.
  await ada.page.getByText("Not connected to Carrel.").waitFor();
  await ada.log.getByText("w120 ").waitFor();
  await ada.page.getByRole("navigation").getByText("Reconnecting").waitFor();

  await carrel.start();
  await ada.connected();
  await ada.log.getByText("Carrel ended while this turn ran").waitFor();
  expect(counted(await ada.log.innerText())).toBeGreaterThanOrEqual(count.saidBy(killed - 500));
  await expect.poll(() => ada.said()).toEqual(["Count"]);
  const shown = await ada.log.innerText();
  await ada.page.reload();
  await expect.poll(() => ada.log.innerText()).toBe(shown);

  await ada.log.getByRole("button", { name: "Continue" }).click();
  await ada.log.getByText("Done.").waitFor();
  await ada.rest();
});

test("kill -9 in the middle of a command marks it interrupted and runs nothing twice", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("crash"), "Running");
  model.answers((say) => {
    say.text("I count the runs.");
    say.call("bash", { script: "echo run >> runs.txt; echo ran; sleep 300.125", timeout_secs: 600, display_name: "Count" });
  });
  await ada.write("Run");
  const call = ada.tool(/^Run/);
  await call.getByText(/running|\ds$/).waitFor();
  await expect.poll(() => running("sleep 300.125")).toBe(true);

  await carrel.kill();
  await expect.poll(() => running("sleep 300.125")).toBe(false);
  await carrel.start();
  await ada.connected();
  await call.getByText("interrupted").waitFor();
  await ada.log.getByText("Carrel ended while this turn ran").waitFor();
  expect(await call.count()).toBe(1);
  expect(await ada.log.getByText("I count the runs.").count()).toBe(1);
  expect(await readFile(join(await carrel.folder("running"), "runs.txt"), "utf8")).toBe("run\n");
  expect(model.asked).toHaveLength(1);
});

test("a network that breaks while text streams resumes without loss", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  // A socket can be cut only where the page's sockets pass through us.
  let cut = () => Promise.resolve();
  let dead = false;
  await ada.page.routeWebSocket(/\/ws$/, (route) => {
    if (dead) {
      void route.close();
      return;
    }
    const server = route.connectToServer();
    cut = async () => {
      await route.close();
      await server.close();
    };
  });
  await ada.page.reload();
  await ada.connected();
  await ada.settle(await carrel.repository("network"), "Counting");
  const count = counting(5, 400);
  model.answers(count.answer);
  await ada.write("Count");
  await ada.log.getByText("w40 ").waitFor();
  dead = true;
  await cut();
  await ada.page.getByRole("navigation").getByText("Reconnecting").waitFor();
  await expect.poll(() => count.saidBy(Date.now())).toBeGreaterThan(200);
  // What is written while the link is down goes out when it is back.
  await ada.write("And then?");
  dead = false;
  await ada.connected();
  await ada.log.getByText("Done.").waitFor();
  await ada.rest();
  expect(counted(await ada.log.innerText())).toBe(400);
  await expect.poll(() => ada.said()).toEqual(["Count", "And then?"]);
});

test("a page with a key that is not accepted says so, and takes another one", async () => {
  const carrel = await stage.carrel();
  const ada = await stage.person(carrel);
  await ada.page.goto("about:blank");
  await ada.page.goto(`${carrel.origin}/#t=${"0".repeat(64)}`);
  await ada.page.getByRole("heading", { name: "This page needs its key" }).waitFor();
  await ada.page.getByLabel("Address or key").fill(carrel.link);
  await ada.button("Connect").click();
  await ada.connected();
  expect(ada.page.url()).not.toContain(carrel.key);
});

test("a slow answer goes on while nobody looks", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("away"), "Alone");
  const door = gate();
  model.answers(async (say) => {
    say.text("Still here. ");
    await door.opened;
    say.text("And finished.");
  });
  await ada.write("Take your time");
  await ada.log.getByText("Still here.").waitFor();
  await ada.page.goto("about:blank");
  door.open();
  await ada.page.goto(carrel.link);
  await ada.log.getByText("Still here. And finished.").waitFor();
  await ada.rest();
});
