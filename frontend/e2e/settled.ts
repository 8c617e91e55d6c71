// Waiting for a list that scrolls.
import type { Locator } from "playwright-core";
import { expect } from "vitest";

/** Waits until the wheel and the list's own corrections have come to rest: the same place in some looks. */
export async function settled(list: Locator): Promise<void> {
  let last = -1;
  let same = 0;
  await expect
    .poll(async () => {
      const top = await list.evaluate((box) => box.scrollTop);
      same = top === last ? same + 1 : 0;
      last = top;
      return same;
    }, { interval: 60 })
    .toBeGreaterThan(3);
}
