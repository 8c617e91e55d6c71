import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Conversation as Snapshot, Entry } from "../../host/host";
import { FakeHost } from "../../host/fake/host";
import { emptyConversation } from "../../host/fake/world";
import { Conversation } from "./store.svelte";

let host: FakeHost;
const settle = () => new Promise((done) => setTimeout(done));
const text = (id: string, order: number, body: string): Entry => ({ id, order, kind: "assistant", time: "2026-01-01T00:00:00Z", text: body });
const snapshot = (changes: Partial<Snapshot>): Snapshot => ({ ...emptyConversation("w"), ...changes });

function grew(rev: number, at: number, added: string, entry = "a"): void {
  host.emit({ name: "entry.grew", data: { workspace: "w", rev, entry, field: "text", at, text: added } });
}

async function open(first: Snapshot): Promise<Conversation> {
  host.handle("conversations.open", () => first);
  const conversation = new Conversation(host, "w");
  await settle();
  return conversation;
}

const shown = (conversation: Conversation) => conversation.rows.map((row) => `${row.id}:${row.entry.text ?? ""}`);
const asked = (name: string) => host.calls.filter((call) => call.name === name).length;

beforeEach(() => {
  host = new FakeHost();
});

describe("text that grows", () => {
  test("is appended where it belongs, counted in UTF-16 code units", async () => {
    const conversation = await open(snapshot({ rev: 1, entries: [text("a", 1, "né 👩‍👩‍👧")] }));
    grew(2, "né 👩‍👩‍👧".length, " fin");
    grew(3, "né 👩‍👩‍👧 fin".length, "!");
    expect(shown(conversation)).toEqual(["a:né 👩‍👩‍👧 fin!"]);
    expect(asked("conversations.entry")).toBe(0);
  });

  test("is asked for again when something in between is missing", async () => {
    const conversation = await open(snapshot({ rev: 1, entries: [text("a", 1, "one")] }));
    host.handle("conversations.entry", () => text("a", 1, "one two three"));
    grew(2, 8, " three");
    grew(3, 14, " four");
    await settle();
    expect(asked("conversations.entry")).toBe(1);
    expect(shown(conversation)).toEqual(["a:one two three"]);
    grew(4, 13, " four");
    expect(shown(conversation)).toEqual(["a:one two three four"]);
  });

  test("of an entry that is not known is asked for", async () => {
    const conversation = await open(snapshot({ rev: 1, entries: [text("a", 1, "one")] }));
    host.handle("conversations.entry", () => text("b", 2, "two"));
    grew(2, 5, "x", "b");
    await settle();
    expect(shown(conversation)).toEqual(["a:one", "b:two"]);
  });

  test("that the wire merged may begin before our end", async () => {
    const conversation = await open(snapshot({ rev: 5, entries: [text("a", 1, "one two")] }));
    grew(7, 3, " two three");
    expect(shown(conversation)).toEqual(["a:one two three"]);
  });

  test("redraws one row and leaves the list alone", async () => {
    const conversation = await open(snapshot({ rev: 1, entries: [text("a", 1, "one"), text("b", 2, "two")] }));
    const before = conversation.rows;
    const first = conversation.rows[0]?.entry;
    grew(2, 3, "!", "b");
    expect(conversation.rows).toBe(before);
    expect(conversation.rows[0]?.entry).toBe(first);
  });
});

describe("a snapshot", () => {
  test("is followed by exactly the events that it does not hold", async () => {
    let answer: (value: Snapshot) => void = () => undefined;
    host.handle("conversations.open", () => new Promise<Snapshot>((done) => (answer = done)));
    const conversation = new Conversation(host, "w");
    await settle();
    grew(4, 0, "old");
    grew(6, 3, " new");
    answer(snapshot({ rev: 5, entries: [text("a", 1, "old")] }));
    await settle();
    expect(shown(conversation)).toEqual(["a:old new"]);
  });

  test("is taken again after a reset, and older pages stay when they fit", async () => {
    const conversation = await open(snapshot({ rev: 1, more: true, entries: [text("c", 3, "c"), text("d", 4, "d")] }));
    host.handle("conversations.page", () => ({ entries: [text("a", 1, "a"), text("b", 2, "b")], more: false }));
    await conversation.loadMore();
    expect(shown(conversation)).toEqual(["a:a", "b:b", "c:c", "d:d"]);
    const kept = conversation.rows[2];
    host.handle("conversations.open", () => snapshot({ rev: 9, more: true, entries: [text("c", 3, "c"), text("d", 4, "d+"), text("e", 5, "e")] }));
    host.reset();
    await settle();
    expect(shown(conversation)).toEqual(["a:a", "b:b", "c:c", "d:d+", "e:e"]);
    expect(conversation.rows[2]).toBe(kept);
    expect(conversation.more).toBe(false);
  });

  test("that does not reach back to what is shown replaces it", async () => {
    const conversation = await open(snapshot({ rev: 1, entries: [text("a", 1, "a")] }));
    host.handle("conversations.open", () => snapshot({ rev: 9, more: true, entries: [text("x", 90, "x")] }));
    host.reset();
    await settle();
    expect(shown(conversation)).toEqual(["x:x"]);
    expect(conversation.more).toBe(true);
  });

  test("is taken again when something was said anew, and nothing of what was left stays", async () => {
    const conversation = await open(snapshot({ rev: 1, entries: [text("a", 1, "a"), text("b", 2, "b"), text("c", 3, "c")] }));
    const kept = conversation.rows[0];
    host.handle("conversations.open", () => snapshot({ rev: 4, entries: [text("a", 1, "a"), text("d", 4, "d")] }));
    host.emit({ name: "entry.changed", data: { workspace: "w", rev: 2, entry: text("d", 4, "d") } });
    host.emit({ name: "entry.replaced", data: { workspace: "w", rev: 3 } });
    grew(5, 1, "!", "d");
    await settle();
    expect(shown(conversation)).toEqual(["a:a", "d:d!"]);
    expect(conversation.rows[0]).toBe(kept);
    host.handle("conversations.open", () => snapshot({ rev: 8, entries: [text("d", 4, "d!")] }));
    host.emit({ name: "entry.replaced", data: { workspace: "w", rev: 6 } });
    await settle();
    expect(shown(conversation)).toEqual(["d:d!"]);
  });

  test("that fails is told, and can be tried again", async () => {
    host.handle("conversations.open", () => Promise.reject(new Error("The log is locked.")));
    const conversation = new Conversation(host, "w");
    await settle();
    expect(conversation.state).toEqual({ kind: "failed", message: "The log is locked." });
    host.handle("conversations.open", () => snapshot({ rev: 1, entries: [text("a", 1, "a")] }));
    await conversation.open();
    expect(shown(conversation)).toEqual(["a:a"]);
  });
});

describe("a place far back", () => {
  const all = Array.from({ length: 900 }, (_, i) => text(`e${i}`, i, `${i}`));

  /** A conversation of 900 entries, whose newest ten were sent. */
  async function long(): Promise<Conversation> {
    host.handle("conversations.page", ({ before, after, around, limit }) => {
      if (around) return { entries: all.slice(Math.max(0, around - limit / 2), around + limit / 2), more: around > limit / 2, newer: around + limit / 2 < all.length };
      if (after) return { entries: all.slice(after + 1, after + 1 + limit), more: true, newer: after + 1 + limit < all.length };
      return { entries: all.slice(Math.max(0, before - limit), before), more: before > limit };
    });
    return open(snapshot({ rev: 1, more: true, entries: all.slice(-10) }));
  }
  const span = (conversation: Conversation) => [conversation.rows[0]?.id, conversation.rows.at(-1)?.id, conversation.rows.length];

  test("is shown with one call, and without what lies between", async () => {
    const conversation = await long();
    expect(await conversation.reach("e300", 300)).toBe(true);
    expect(span(conversation)).toEqual(["e250", "e349", 100]);
    expect([conversation.newer, conversation.more, asked("conversations.page")]).toEqual([true, true, 1]);
    expect(await conversation.reach("e310", 310)).toBe(true);
    expect(asked("conversations.page")).toBe(1);
  });

  test("joins the newest again as the person goes on, older and newer", async () => {
    const conversation = await long();
    await conversation.reach("e700", 700);
    await conversation.loadMore();
    expect(span(conversation)).toEqual(["e550", "e749", 200]);
    await conversation.loadNewer();
    expect([span(conversation), conversation.newer]).toEqual([["e550", "e849", 300], true]);
    await conversation.loadNewer();
    expect([span(conversation), conversation.newer]).toEqual([["e550", "e899", 350], false]);
    expect(new Set(conversation.rows.map((row) => row.id)).size).toBe(350);
    await conversation.loadNewer();
    expect(asked("conversations.page")).toBe(4);
  });

  test("leaves the newest current, and one step away", async () => {
    const conversation = await long();
    await conversation.reach("e300", 300);
    host.emit({ name: "entry.changed", data: { workspace: "w", rev: 2, entry: text("new", 900, "n") } });
    grew(3, 1, "ew", "new");
    host.emit({ name: "entry.changed", data: { workspace: "w", rev: 4, entry: text("e301", 301, "changed") } });
    host.emit({ name: "entry.changed", data: { workspace: "w", rev: 5, entry: text("e600", 600, "between") } });
    host.emit({ name: "entry.removed", data: { workspace: "w", rev: 6, ids: ["e302", "e899"] } });
    expect(span(conversation)).toEqual(["e250", "e349", 99]);
    expect(shown(conversation)[51]).toBe("e301:changed");
    conversation.toLatest();
    expect(shown(conversation).slice(-2)).toEqual(["e898:898", "new:new"]);
    expect([conversation.rows.length, conversation.newer, conversation.more]).toEqual([10, false, true]);
  });

  test("near the newest is no place of its own", async () => {
    const conversation = await long();
    await conversation.reach("e860", 860);
    expect([span(conversation), conversation.newer]).toEqual([["e810", "e899", 90], false]);
    expect(await conversation.reach("e895", 895)).toBe(true);
    expect(asked("conversations.page")).toBe(1);
  });

  test("is left when something was said anew, and one that is gone is told", async () => {
    const conversation = await long();
    expect(await conversation.reach("gone", 300)).toBe(false);
    expect(conversation.newer).toBe(false);
    await conversation.reach("e300", 300);
    host.handle("conversations.open", () => snapshot({ rev: 9, more: true, entries: [text("e890", 890, "890"), text("b", 950, "b")] }));
    host.emit({ name: "entry.replaced", data: { workspace: "w", rev: 8 } });
    await settle();
    expect([shown(conversation), conversation.newer]).toEqual([["e890:890", "b:b"], false]);
  });

  test("stays when the link broke, and the newest are taken anew", async () => {
    const conversation = await long();
    await conversation.reach("e300", 300);
    host.handle("conversations.open", () => snapshot({ rev: 9, more: true, entries: [text("z", 999, "z")] }));
    host.reset();
    await settle();
    expect(span(conversation)).toEqual(["e250", "e349", 100]);
    conversation.toLatest();
    expect(shown(conversation)).toEqual(["z:z"]);
  });
});

describe("entries", () => {
  test("keep their order and can go away", async () => {
    const conversation = await open(snapshot({ rev: 1, entries: [text("a", 1, "a"), text("c", 5, "c")] }));
    host.emit({ name: "entry.changed", data: { workspace: "w", rev: 2, entry: text("b", 3, "b") } });
    host.emit({ name: "entry.changed", data: { workspace: "w", rev: 3, entry: text("a", 1, "A") } });
    host.emit({ name: "entry.changed", data: { workspace: "other", rev: 4, entry: text("z", 9, "z") } });
    expect(shown(conversation)).toEqual(["a:A", "b:b", "c:c"]);
    host.emit({ name: "entry.removed", data: { workspace: "w", rev: 5, ids: ["b"] } });
    expect(shown(conversation)).toEqual(["a:A", "c:c"]);
  });

  test("that were loaded in front are told to the list as such", async () => {
    const conversation = await open(snapshot({ rev: 1, more: true, entries: [text("b", 2, "b")] }));
    host.handle("conversations.page", () => ({ entries: [text("a", 1, "a")], more: false }));
    await conversation.loadMore();
    expect(conversation.prepended).toBe(true);
    host.emit({ name: "entry.changed", data: { workspace: "w", rev: 2, entry: text("c", 3, "c") } });
    expect(conversation.prepended).toBe(false);
  });
});

// O-DESK-04
describe("messages on their way", () => {
  test("stay until the core has them, with one id over every attempt", async () => {
    const conversation = await open(snapshot({ rev: 1 }));
    const send = vi.fn().mockRejectedValueOnce(new Error("The disk is full.")).mockResolvedValue(undefined);
    host.handle("conversations.send", send);
    await conversation.outbox.send("hello");
    expect(conversation.outbox.list).toMatchObject([{ text: "hello", problem: "The disk is full." }]);
    await conversation.outbox.retry(conversation.outbox.list[0]?.id ?? "");
    expect(conversation.outbox.list).toEqual([]);
    const ids = send.mock.calls.map((call) => (call[0] as { id: string }).id);
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
  });
});
