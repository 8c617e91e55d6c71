import { expect, test } from "vitest";
import type { Person } from "../person";
import { useStage } from "../stage";
import { answer, writeTurns } from "../transcript";

const stage = useStage();

// O-DATA-05
test("while a command sleeps in a long conversation, the page moves only what counts the seconds", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const repo = await carrel.repository("patience");
  // Animations as most people have them.
  const ada = await stage.person(carrel, { reducedMotion: "no-preference" });
  await ada.settle(repo, "Patience");
  await ada.page.goto("about:blank");
  await carrel.stop();
  await writeTurns(await carrel.session(), 1_000);
  await carrel.start();
  let frames = 0;
  ada.page.on("websocket", (socket) => socket.on("framereceived", () => frames++));
  await ada.page.goto(carrel.link);
  await ada.log.getByText(answer(1_000)).waitFor();
  // Older messages are there to be loaded, and nobody asked for them: not even what is hidden may move.
  await expect.poll(() => moving(ada)).toEqual([]);

  model.answers((say) => say.call("bash", { script: "sleep 300.25", timeout_secs: 600, display_name: "Wait" }));
  await ada.write("Wait");
  await ada.tool(/^Run/).getByText(/^[1-9][\d.]* s$/).waitFor();
  await expect.poll(() => moving(ada)).toEqual([]);
  // What the start of the command told comes to rest; then the core has nothing to say.
  await expect
    .poll(async () => {
      const before = frames;
      const touched = await touchedFor(ada, 3);
      return { told: frames - before, touched: touched.filter((what) => !["spinner", "dot", "running"].includes(what)) };
    }, { timeout: 60_000 })
    .toEqual({ told: 0, touched: [] });
});

/** The animations that run, also on what is not to be seen. */
function moving(person: Person): Promise<string[]> {
  return person.page.evaluate(() => document.getAnimations().filter((one) => one.playState === "running").map((one) => (one as CSSAnimation).animationName));
}

/** The classes of what changes in the page until the command's seconds have changed so many times. */
function touchedFor(person: Person, ticks: number): Promise<string[]> {
  return person.page.evaluate(
    (left) =>
      new Promise<string[]>((done) => {
        const touched = new Set<string>();
        const observer = new MutationObserver((changes) => {
          let ticked = false;
          for (const { target } of changes) {
            const element = target instanceof Element ? target : target.parentElement;
            const name = element?.classList[0] ?? element?.nodeName ?? "";
            touched.add(name);
            ticked ||= name === "running";
          }
          if (!ticked || --left > 0) return;
          observer.disconnect();
          done([...touched].sort());
        });
        observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      }),
    ticks,
  );
}
