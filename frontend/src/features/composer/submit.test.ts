import { expect, test } from "vitest";
import { keyAction } from "./submit";

const press = (changes: Partial<KeyboardEvent>) => ({ key: "Enter", shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, isComposing: false, keyCode: 13, ...changes });

test("Enter sends and Shift+Enter does not", () => {
  expect(keyAction(press({}), false)).toBe("send");
  expect(keyAction(press({ shiftKey: true }), false)).toBe("none");
  expect(keyAction(press({ key: "a" }), false)).toBe("none");
});

test("Enter with Ctrl or Command sends after the turn", () => {
  expect(keyAction(press({ ctrlKey: true }), false)).toBe("turn");
  expect(keyAction(press({ metaKey: true }), false)).toBe("turn");
});

// O-TERM-06
test("Enter during composition never sends", () => {
  expect(keyAction(press({ isComposing: true }), false)).toBe("none");
  expect(keyAction(press({ keyCode: 229 }), false)).toBe("none");
  expect(keyAction(press({}), true)).toBe("none");
});
