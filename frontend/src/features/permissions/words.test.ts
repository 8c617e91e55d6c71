import { expect, test } from "vitest";
import type { Question } from "../../host/host";
import { modeWord, title, verb } from "./words";

const asks = (...kinds: string[]): Question => ({ call: "c", entry: "1.0", tool: "bash", since: "", reason: "", rights: kinds.map((kind) => ({ kind, what: "x" })) });

test("the title says what the agent wants to do", () => {
  expect(title(asks("write", "write"))).toBe("Write this?");
  expect(title(asks("command", "write"))).toBe("Run this?");
  expect(title({ ...asks("outside", "command"), outside: true })).toBe("Run this outside of the sandbox?");
  expect(title(asks("unclear"))).toBe("Allow this?");
});

test("what is not known by name is shown as it is", () => {
  expect(verb({ kind: "newer", what: "x" })).toBe("");
  expect(modeWord("accept-edits")).toBe("Accept edits");
  expect(modeWord("newer")).toBe("newer");
});
