import { expect, test } from "vitest";
import { running } from "../carrel";
import { gate } from "../model";
import { useStage } from "../stage";

const stage = useStage();

test("Ctrl+C stops a command that sleeps, and the next message goes out at once", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("stop"), "Too slow");

  model.answers((say) => say.call("bash", { script: "echo before; sleep 20.0625", timeout_secs: 60, display_name: "Wait" }));
  await ada.write("Wait for me");
  const call = ada.tool(/^Run/);
  await call.getByText("running").or(call.getByText(/^\d+ s$/)).waitFor();
  await expect.poll(() => running("sleep 20.0625")).toBe(true);

  const pressed = Date.now();
  await ada.page.keyboard.press("Control+c");
  await call.getByText("interrupted").or(call.getByText("stopped")).waitFor();
  await ada.rest();
  expect(Date.now() - pressed).toBeLessThan(15_000); // it would sleep for 20 s
  await expect.poll(() => running("sleep 20.0625")).toBe(false);
  await ada.log.getByText("You stopped the agent.").waitFor();
  await ada.row("Too slow").getByText("stopped").waitFor();

  await ada.ask("Then do it without waiting");
  await ada.log.getByText("Done.").waitFor();
  // The model learns that its call did not end by itself.
  expect(model.asked.at(-1)?.prompt).toContain("Then do it without waiting");
});

test("stopping in the middle of a sentence keeps the half that was said", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("stop"), "Half said");
  model.answers(async (say) => {
    say.text("The first half of a sentence");
    await gate().opened;
  });
  await ada.write("Tell me everything");
  await ada.log.getByText("The first half of a sentence").waitFor();
  await ada.button(/^Stop/).click();
  await ada.rest();
  await ada.page.reload();
  await ada.log.getByText("The first half of a sentence").waitFor();
  await ada.log.getByText("You stopped the agent.").waitFor();
});
