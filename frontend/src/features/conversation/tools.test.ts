import { expect, test } from "vitest";
import type { ToolEntry } from "../../host/host";
import { describe as line, inputField, opensByItself, outcome } from "./tools";

const tool = (changes: Partial<ToolEntry>): ToolEntry => ({ name: "bash", status: "ok", input: "{}", ...changes });

test("a field can be read while the model is still writing it", () => {
  expect(inputField('{"script":"go test', "script")).toBe("go test");
  expect(inputField('{"path": "a \\"b\\" c', "path")).toBe('a "b" c');
  expect(inputField('{"path":"a","x":1}', "path")).toBe("a");
  expect(inputField('{"pa', "path")).toBe("");
  expect(inputField('{"path":3}', "path")).toBe("");
});

test("a call reads as one line", () => {
  expect(line(tool({ input: '{"script":"cd x\\ngo test"}' }))).toMatchObject({ verb: "Run", subject: "cd x …" });
  expect(line(tool({ name: "file_read", input: '{"path":"a b/ü.go"}' }))).toMatchObject({ verb: "Read", subject: "a b/ü.go" });
  expect(line(tool({ name: "web_search", input: "go full jitter" }))).toMatchObject({ verb: "Search the web", subject: "go full jitter" });
  expect(line(tool({ name: "web_search", input: '{"query":"x y"}' }))).toMatchObject({ subject: "x y" });
  expect(line(tool({ name: "web_fetch", input: '{"url":"x"}' }))).toMatchObject({ shape: "other", verb: "web_fetch", subject: '{"url":"x"}' });
});

test("the end of the line says what came of it", () => {
  expect(outcome(tool({ detail: { exitCode: 0, durationMs: 3100 } }), "run")).toBe("done · 3.1 s");
  expect(outcome(tool({ detail: { exitCode: 2, durationMs: 90 } }), "run")).toBe("exit 2 · 90 ms");
  expect(outcome(tool({ status: "failed", detail: { timedOut: true, durationMs: 60_000 } }), "run")).toBe("timed out · 1 min 0 s");
  expect(outcome(tool({ detail: { firstLine: 1, lastLine: 40, totalLines: 142 } }), "read")).toBe("1–40 of 142");
  expect(outcome(tool({ status: "interrupted" }), "edit")).toBe("interrupted");
});

test("edits and failures open by themselves, nothing else does", () => {
  expect(opensByItself(tool({ name: "file_edit_insert", detail: { diff: "@@" } }), "edit")).toBe(true);
  expect(opensByItself(tool({ status: "failed" }), "read")).toBe(true);
  expect(opensByItself(tool({ detail: { exitCode: 1 } }), "run")).toBe(true);
  expect(opensByItself(tool({ detail: { exitCode: 0 } }), "run")).toBe(false);
  expect(opensByItself(tool({ status: "running" }), "run")).toBe(false);
});
