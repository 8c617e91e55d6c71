import { beforeEach, describe, expect, test, vi } from "vitest";
import type { HostEvent, Upload } from "../host/host";
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
  drafts.load("w", "from before", [], since);
  expect(drafts.get("w")).toBe("from before");
  const later = drafts.changes("w");
  drafts.set("w", "from now");
  drafts.load("w", "from before", [], later);
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

describe("another window", () => {
  /** Two pages of one core. */
  const other = () => new Drafts(host);

  test("shows what is written here, and that it was sent", async () => {
    const there = other();
    drafts.set("w", "hello");
    await drafts.flush("w");
    expect(there.get("w")).toBe("hello");
    there.set("w", "hello, world");
    await there.flush("w");
    expect(drafts.get("w")).toBe("hello, world");
    drafts.take("w");
    await drafts.flush("w");
    expect(there.get("w")).toBe("");
    expect(kept()).toEqual(["hello", "hello, world", ""]);
  });

  test("keeps what the person is writing there", async () => {
    const there = other();
    there.set("w", "mine");
    drafts.set("w", "yours");
    await drafts.flush("w");
    expect(there.get("w")).toBe("mine");
    await there.flush("w");
    expect([drafts.get("w"), there.get("w")]).toEqual(["yours", "mine"]);
    // The end of one is not the end of the other.
    drafts.take("w");
    await drafts.flush("w");
    expect(there.get("w")).toBe("mine");
  });

  test("does not undo what was written since, when its own words come back late", async () => {
    const late: HostEvent[] = [];
    host.handle("conversations.setDraft", ({ workspace, text, by }) => void late.push({ name: "draft.changed", data: { workspace, text, ...(by ? { by } : {}) } }));
    drafts.set("w", "a");
    await drafts.flush("w");
    drafts.set("w", "");
    await drafts.flush("w");
    for (const event of late) host.emit(event);
    expect(drafts.get("w")).toBe("");
  });
});

test("pictures belong to the draft", async () => {
  const files = new Map<string, readonly Upload[]>();
  const pictured = new Drafts(host, { uploads: (id) => files.get(id) ?? [], restore: (id, list) => void files.set(id, list) });
  files.set("w", [{ name: "a.png", upload: "u1" }]);
  pictured.touch("w");
  await vi.advanceTimersByTimeAsync(500);
  expect(host.calls.at(-1)?.args).toMatchObject({ text: "", files: [{ name: "a.png", upload: "u1" }] });
  pictured.load("w", "and words", [{ name: "b.png", upload: "u2" }], pictured.changes("w"));
  expect([pictured.get("w"), files.get("w")]).toEqual(["and words", [{ name: "b.png", upload: "u2" }]]);
  await pictured.flush("w");
  expect(kept()).toEqual([""]);
});
