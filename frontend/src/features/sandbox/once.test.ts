import { expect, test } from "vitest";
import { once } from "./once";

test("questions that come while one is asked become one more", async () => {
  let asked = 0;
  const ask = once(async () => {
    asked++;
    await Promise.resolve();
  });
  await Promise.all([ask(), ask(), ask()]);
  expect(asked).toBe(2);
  await ask();
  expect(asked).toBe(3);
});

test("one that failed does not block the next", async () => {
  let fail = true;
  const ask = once(() => (fail ? Promise.reject(new Error("no")) : Promise.resolve()));
  await expect(ask()).rejects.toThrow("no");
  fail = false;
  await expect(ask()).resolves.toBeUndefined();
});
