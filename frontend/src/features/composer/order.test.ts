import { expect, test } from "vitest";
import { beforeAt, beforeStep } from "./order";

const queue = [{ id: "a" }, { id: "b" }, { id: "c" }];

test("a step moves past one neighbour and stops at the ends", () => {
  expect(beforeStep(queue, "b", -1)).toBe("a");
  expect(beforeStep(queue, "b", 1)).toBe("");
  expect(beforeStep(queue, "a", 1)).toBe("c");
  expect(beforeStep(queue, "a", -1)).toBeUndefined();
  expect(beforeStep(queue, "c", 1)).toBeUndefined();
});

test("dropping in the gaps around itself moves nothing", () => {
  expect(beforeAt(queue, "b", 1)).toBeUndefined();
  expect(beforeAt(queue, "b", 2)).toBeUndefined();
  expect(beforeAt(queue, "b", 0)).toBe("a");
  expect(beforeAt(queue, "b", 3)).toBe("");
  expect(beforeAt(queue, "a", 2)).toBe("c");
});
