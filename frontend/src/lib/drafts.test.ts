import { beforeEach, expect, test, vi } from "vitest";
import { FakeHost } from "../host/fake/host";
import { Drafts } from "./drafts.svelte";

let host: FakeHost;
let drafts: Drafts;
const kept = () => host.calls.filter((call) => call.name === "conversations.setDraft").map((call) => (call.args as { text: string }).text);

beforeEach(() => {
  vi.useFakeTimers();
  host = new FakeHost();
  drafts = new Drafts(host);
});

test("a draft is kept a moment after the last change, once", async () => {
  drafts.set("w", "h");
  await vi.advanceTimersByTimeAsync(300);
  drafts.set("w", "hello");
  await vi.advanceTimersByTimeAsync(499);
  expect(kept()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(kept()).toEqual(["hello"]);
  await drafts.flush("w");
  expect(kept()).toEqual(["hello"]);
});

test("what the core keeps fills the box, unless something was written meanwhile", () => {
  const since = drafts.changes("w");
  drafts.load("w", "from before", since);
  expect(drafts.get("w")).toBe("from before");
  const later = drafts.changes("w");
  drafts.set("w", "from now");
  drafts.load("w", "from before", later);
  expect(drafts.get("w")).toBe("from now");
});

test("a message that is sent leaves no draft, and one that is not keeps it", async () => {
  drafts.set("w", "hello");
  await drafts.flush("w");
  expect(drafts.take("w")).toBe("hello");
  await vi.advanceTimersByTimeAsync(5000);
  expect(kept()).toEqual(["hello"]);
  await drafts.flush("w");
  expect(kept()).toEqual(["hello", ""]);
});

test("a draft that could not be kept is handed over when the core is back", async () => {
  host.handle("conversations.setDraft", () => Promise.reject(new Error("gone")));
  drafts.set("w", "hello");
  await drafts.flush("w");
  host.handle("conversations.setDraft", () => undefined);
  host.setConnection({ kind: "online", version: "dev" });
  await vi.advanceTimersByTimeAsync(0);
  expect(kept()).toEqual(["hello", "hello"]);
});
