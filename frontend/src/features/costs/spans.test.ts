import { expect, test } from "vitest";
import { readBudget, startOf } from "./spans";

test("spans begin at midnight here", () => {
  const now = new Date(2026, 2, 10, 15, 30);
  expect(startOf("today", now)).toBe(new Date(2026, 2, 10).toISOString());
  expect(startOf("week", now)).toBe(new Date(2026, 2, 4).toISOString());
  expect(startOf("all", now)).toBeUndefined();
});

test("a budget is dollars, written as people do", () => {
  expect(readBudget(" $5 ")).toBe(5);
  expect(readBudget("2,50")).toBe(2.5);
  expect(readBudget("0")).toBe(0);
  for (const text of ["", "five", "-1", "1e6", "12345678"]) expect(readBudget(text)).toBeUndefined();
});
