import { expect, test } from "vitest";
import { output, Reader, record, resized, screen } from "./records";

test("a stream is read alike however it is cut", () => {
  const head = (cols: number, text: string) => {
    const bytes = new Uint8Array([cols >> 8, cols & 255, 0, 24, ...new TextEncoder().encode(text)]);
    return bytes;
  };
  const parts = [record(screen, head(80, "shown")), record(output, new TextEncoder().encode("more")), record(resized, head(100, "")), record(output, new TextEncoder().encode("!")), record(3, new TextEncoder().encode('{"code":3}'))];
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  for (let step = 1; step <= all.length; step++) {
    let said = "";
    let used = 0;
    const reader = new Reader({
      text: (bytes) => {
        said += new TextDecoder().decode(bytes);
        used += bytes.length;
      },
      screen: (cols, rows) => (said += `[${cols}x${rows}]`),
      resized: (cols) => (said += `<${cols}>`),
      ended: (json) => (said += json),
      used: (bytes) => (used += bytes),
    });
    for (let from = 0; from < all.length; from += step) reader.take(all.subarray(from, from + step));
    expect(said, `step ${step}`).toBe('[80x24]shownmore<100>!{"code":3}');
    expect(used).toBe(all.length);
  }
});
