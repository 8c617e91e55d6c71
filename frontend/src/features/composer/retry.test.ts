import { expect, test } from "vitest";
import { countdown, whatFailed } from "./retry";

const now = Date.parse("2026-01-01T00:00:00Z");
const retry = { at: "2026-01-01T00:00:12Z", attempt: 3, of: 8, code: "overloaded", reason: "529" };

test("the wait says what is wrong, how long it takes and how often it was tried", () => {
  expect(whatFailed(retry, "Anthropic")).toBe("Anthropic is overloaded");
  expect(countdown(retry, now)).toBe("Trying again in 12 s (attempt 3 of 8)");
  expect(countdown(retry, now + 11_001)).toBe("Trying again in 1 s (attempt 3 of 8)");
  expect(countdown(retry, now + 12_000)).toBe("Trying again now (attempt 3 of 8)");
  expect(countdown({ ...retry, attempt: 0 }, now - 60_000)).toBe("Trying again in 1 min 12 s");
});
