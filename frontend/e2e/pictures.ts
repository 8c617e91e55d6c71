// Pictures for journeys, and the ways in which they come to the composer.
import type { Page } from "playwright-core";

export interface PictureFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

/** A picture as a file. */
export async function draw(page: Page, name: string, colour: string): Promise<PictureFile> {
  const url = await page.evaluate((fill) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [120, 80];
    const context = canvas.getContext("2d");
    if (context) context.fillStyle = fill;
    context?.fillRect(0, 0, 120, 80);
    return canvas.toDataURL("image/png");
  }, colour);
  return { name, mimeType: "image/png", buffer: Buffer.from(url.slice(url.indexOf(",") + 1), "base64") };
}

/** Gives files to the composer the way that a paste or a drop does. */
export async function give(page: Page, how: "paste" | "drop", file: PictureFile): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).evaluate(
    (box, { kind, name, type, data }) => {
      const carried = new DataTransfer();
      carried.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name, { type }));
      const event = kind === "paste" ? new ClipboardEvent("paste", { clipboardData: carried, bubbles: true, cancelable: true }) : new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true });
      box.dispatchEvent(event);
    },
    { kind: how, name: file.name, type: file.mimeType, data: file.buffer.toString("base64") },
  );
}
