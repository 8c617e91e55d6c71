import { expect, test } from "vitest";
import { gate, type Asked } from "../model";
import { draw, give } from "../pictures";
import { useStage } from "../stage";

const stage = useStage();

/** How many pictures each message of the person has, as the model gets them. */
function pictures(asked: Asked | undefined): number[] {
  const { messages } = asked?.body as { messages: { role: string; content: string | { type: string }[] }[] };
  return messages.filter((one) => one.role === "user").map(({ content }) => (typeof content === "string" ? 0 : content.filter((part) => part.type === "image").length));
}

test("pictures are pasted, dropped or chosen, looked at, taken back, and sent without a word", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("look"), "Look at this");
  const attached = ada.page.getByRole("region", { name: "Attached pictures" });
  const chooser = ada.page.locator("input[type=file]");

  await give(ada.page, "paste", await draw(ada.page, "pasted.png", "red"));
  await give(ada.page, "drop", await draw(ada.page, "dropped.png", "green"));
  await chooser.setInputFiles([await draw(ada.page, "chosen.png", "blue"), await draw(ada.page, "other.png", "white")]);
  await expect.poll(() => attached.getByRole("img").count()).toBe(4);
  await chooser.setInputFiles([{ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("words") }]);
  await attached.getByRole("alert").getByText("notes.txt can’t be attached: only pictures can.").waitFor();
  await chooser.setInputFiles([{ name: "broken.png", mimeType: "image/png", buffer: Buffer.from("no picture at all") }]);
  await attached.getByRole("alert").getByText(/^broken\.png: /).waitFor();
  // The browser writes a refused upload to its console.
  await expect.poll(() => ada.errors.splice(0)).toEqual([expect.stringContaining("400")]);
  await attached.getByRole("button", { name: "Close" }).click();
  await attached.getByRole("button", { name: "Remove other.png" }).click();
  expect(await attached.getByRole("img").count()).toBe(3);

  // Nothing but the pictures.
  await ada.composer.press("Enter");
  await ada.log.getByText("Done.").waitFor();
  await ada.rest();
  expect(pictures(model.asked.at(-1))).toEqual([3]);
  expect(await attached.count()).toBe(0);
  const shown = ada.log.getByRole("button", { name: "Show chosen.png" });
  await shown.getByRole("img").waitFor();
  await shown.click();
  const viewer = ada.dialog("chosen.png");
  await expect.poll(() => viewer.getByRole("img").evaluate((one) => (one as HTMLImageElement).naturalWidth)).toBe(120);
  await ada.page.keyboard.press("Escape");
  await viewer.waitFor({ state: "detached" });

  await ada.page.reload();
  await shown.getByRole("img").waitFor();
});

test("a message that waits has its pictures, and one that is edited keeps them", async () => {
  const model = await stage.model();
  const carrel = await stage.carrel({ model });
  const ada = await stage.person(carrel);
  await ada.settle(await carrel.repository("queue"), "Waits");
  const door = gate();
  model.answers(async (say) => {
    say.text("Well, ");
    await door.opened;
  });
  await ada.write("First");
  await ada.log.getByText("Well,").waitFor();
  await give(ada.page, "paste", await draw(ada.page, "queued.png", "orange"));
  await ada.composer.fill("What is this?");
  await ada.composer.press("Control+Enter");
  const item = ada.waiting.getByRole("listitem");
  await item.getByRole("img", { name: "queued.png" }).waitFor();
  await item.getByRole("button", { name: "What is this?" }).click();
  await ada.waiting.getByLabel("Waiting message").fill("What is that?");
  await ada.waiting.getByLabel("Waiting message").press("Enter");
  await item.getByRole("button", { name: "What is that?" }).waitFor();
  await item.getByRole("img", { name: "queued.png" }).waitFor();
  door.open();
  await ada.message("What is that?").waitFor();
  await ada.rest();
  expect(pictures(model.asked.at(-1))).toEqual([0, 1]);

  await ada.composer.press("ArrowUp");
  const edit = ada.log.getByRole("group", { name: "Edit your message" });
  await edit.getByRole("img", { name: "queued.png" }).waitFor();
  await edit.getByRole("textbox").fill("And what colour?");
  await edit.getByRole("textbox").press("Enter");
  await ada.message("And what colour?").waitFor();
  await expect.poll(() => model.asked.at(-1)?.prompt).toBe("And what colour?");
  await ada.rest();
  expect(pictures(model.asked.at(-1))).toEqual([0, 1]);

  await ada.composer.press("ArrowUp");
  await edit.getByRole("button", { name: "Remove queued.png" }).click();
  await edit.getByRole("textbox").press("Enter");
  await expect.poll(() => pictures(model.asked.at(-1))).toEqual([0, 0]);
  await ada.rest();
  await expect.poll(() => ada.log.getByRole("img").count()).toBe(0);
});
