import { expect, test } from "vitest";
import { stepTo } from "./sorting.svelte";

test("a step goes past one neighbour, and nowhere at the ends", () => {
  const ids = ["a", "b", "c"];
  expect(stepTo(ids, "b", -1)).toEqual({ before: "a" });
  expect(stepTo(ids, "a", 1)).toEqual({ before: "c" });
  expect(stepTo(ids, "b", 1)).toEqual({ before: undefined });
  expect(stepTo(ids, "a", -1)).toBe(false);
  expect(stepTo(ids, "c", 1)).toBe(false);
  expect(stepTo(ids, "gone", 1)).toBe(false);
});
