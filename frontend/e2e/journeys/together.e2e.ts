import { expect, test } from "vitest";
import { gate } from "../model";
import { draw, give } from "../pictures";
import { useStage } from "../stage";

const stage = useStage();

test("two pages on one server stay in step", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const repo = await carrel.repository("shared");
  const ada = await stage.person(carrel);
  const bob = await stage.person(carrel);

  await ada.settle(repo, "Seen by both");
  await bob.row("Seen by both").click();
  const door = gate();
  model.answers(async (say) => {
    say.text("Halfway through");
    await door.opened;
    say.text(" and done.");
  });
  await ada.write("Go");
  for (const person of [ada, bob]) await person.log.getByText("Halfway through").waitFor();
  await bob.write("Bob asks for more");
  await ada.waiting.getByText("Bob asks for more").waitFor();
  door.open();
  for (const person of [ada, bob]) {
    await person.log.getByText("Halfway through and done.").waitFor();
    await person.message("Bob asks for more").waitFor();
    await person.rest();
    await expect.poll(() => person.said()).toEqual(["Go", "Bob asks for more"]);
  }

  await bob.menu(/^Rename/);
  const dialog = bob.dialog("Rename workspace");
  await dialog.getByLabel("Title").fill("Renamed by Bob");
  await dialog.getByRole("button", { name: /^Rename/ }).click();
  await ada.page.getByRole("heading", { level: 1, name: "Renamed by Bob" }).waitFor();
  await ada.menu("Archive");
  await expect.poll(() => bob.composer.isDisabled()).toBe(true);
});

test("what is being written is in every window, with its pictures", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  const desk = await stage.person(carrel); // her other window
  await ada.settle(await carrel.repository("drafts"), "Two windows");
  await desk.row("Two windows").click();
  await desk.page.getByRole("heading", { level: 1, name: "Two windows" }).waitFor();
  const written = (person: typeof ada) => person.written();

  await ada.composer.fill("Look at");
  await expect.poll(() => written(desk)).toBe("Look at");
  await desk.composer.fill("Look at this");
  await give(desk.page, "paste", await draw(desk.page, "there.png", "teal"));
  await expect.poll(() => written(ada)).toBe("Look at this");
  await ada.page.getByRole("region", { name: "Attached pictures" }).getByRole("img", { name: "there.png" }).waitFor();

  // A reload has both, and sends both.
  await ada.page.reload();
  await expect.poll(() => written(ada)).toBe("Look at this");
  await ada.page.getByRole("region", { name: "Attached pictures" }).getByRole("img", { name: "there.png" }).waitFor();
  await ada.composer.press("Enter");
  await ada.log.getByText("Done.").waitFor();
  await ada.log.getByRole("img", { name: "there.png" }).waitFor();
  await expect.poll(() => written(desk)).toBe("");
  expect(await desk.page.getByRole("region", { name: "Attached pictures" }).count()).toBe(0);
});

test("carrel run beside the page appears in it, live", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const repo = await carrel.repository("shared");
  const ada = await stage.person(carrel);
  const door = gate();
  model.answers(
    async (say) => {
      say.text("From the terminal. ");
      await door.opened;
      say.call("bash", { script: "echo hello > hello.txt && git add hello.txt && git commit -qm 'Say hello'", timeout_secs: 20, display_name: "Commit" });
    },
    (say) => say.text("Committed."),
  );
  const run = carrel.command(["run", "--dir", repo, "--runtime", "worktree", "Say hello from the terminal"]);
  const row = ada.page.getByRole("navigation").getByRole("button", { name: /hello/ });
  await row.getByText("in a terminal").waitFor(); // a page that opens it sooner has it, and the run goes on there
  await row.click();
  await ada.message("Say hello from the terminal").waitFor();
  await ada.log.getByText("From the terminal.").waitFor();
  door.open();
  expect(await run).toContain("Committed.");
  await ada.log.getByText("Committed.").waitFor();
  await row.getByText("↑1").waitFor();
  // When the terminal is done, the page can go on where it ended.
  await row.getByText("in a terminal").waitFor({ state: "detached" });
  await ada.ask("And thank you");
  expect(model.asked.at(-1)?.prompt).toBe("And thank you");
});
