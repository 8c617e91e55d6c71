import { expect, test } from "vitest";
import { Recall, saidBefore } from "./history";

test("one goes back through what was said, and forward to what was being written", () => {
  const recall = new Recall(saidBefore(["one", "two", "two", " ", "three"]), "draft");
  expect([recall.go(1), recall.go(1), recall.go(1), recall.go(1)]).toEqual(["three", "two", "one", undefined]);
  expect([recall.go(-1), recall.go(-1), recall.go(-1), recall.go(-1)]).toEqual(["two", "three", "draft", undefined]);
});
