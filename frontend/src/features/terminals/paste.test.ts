import { expect, test } from "vitest";
import { asks, readPaste } from "./paste";

test("controls are left out of what is pasted, and told", () => {
  const hostile = readPaste("ls\u001b[201~\r\nrm -rf x\u0003");
  expect(hostile).toEqual({ text: "ls[201~\nrm -rf x", lines: 2, controls: true });
  expect(asks(hostile, true)).toBe(true);
});

test("one line goes in without a question, and a few where the shell waits for Enter", () => {
  expect(asks(readPaste("ls -l"), false)).toBe(false);
  expect(asks(readPaste("ls -l\n"), false)).toBe(true);
  expect(asks(readPaste("a\nb"), false)).toBe(true);
  expect(asks(readPaste("a\nb\n"), true)).toBe(false);
  expect(asks(readPaste("a\n".repeat(6)), true)).toBe(true);
});
