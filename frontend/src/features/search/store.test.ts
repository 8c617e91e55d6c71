import { beforeEach, expect, test, vi } from "vitest";
import type { Found, Hit } from "../../host/host";
import { FakeHost } from "../../host/fake/host";
import { Search } from "./store.svelte";

let host: FakeHost;
let search: Search;
const hit = (id: number): Hit => ({ id, workspace: "w1", name: "n", title: "t", projectId: "p", entry: `${id}.0`, order: id, time: "2026-01-01T00:00:00Z", role: "user", snippet: [{ text: "x" }] });
const asked = () => host.calls.map((call) => (call.args as { text: string }).text);

beforeEach(() => {
  vi.useFakeTimers();
  host = new FakeHost();
  search = new Search(host);
});

test("it is asked once the person stops typing", async () => {
  host.handle("search.find", () => ({ hits: [hit(2), hit(1)] }));
  for (const text of ["j", "ji", "jitter"]) {
    search.type(text);
    await vi.advanceTimersByTimeAsync(100);
  }
  await vi.advanceTimersByTimeAsync(300);
  expect(asked()).toEqual(["jitter"]);
  expect(search.hits.map((one) => one.id)).toEqual([2, 1]);
});

test("an answer to an older question is dropped", async () => {
  const answers: ((found: Found) => void)[] = [];
  host.handle("search.find", () => new Promise<Found>((done) => answers.push(done)));
  search.type("one");
  await vi.advanceTimersByTimeAsync(250);
  search.type("two");
  await vi.advanceTimersByTimeAsync(250);
  answers[1]?.({ hits: [hit(2)] });
  answers[0]?.({ hits: [hit(1)] });
  await vi.advanceTimersByTimeAsync(0);
  expect(search.hits.map((one) => one.id)).toEqual([2]);
});

test("while conversations are still being read it is asked again by itself", async () => {
  let behind = 1000;
  host.handle("search.find", () => ({ hits: behind > 0 ? [] : [hit(1)], behind }));
  search.type("one");
  await vi.advanceTimersByTimeAsync(250);
  expect(search.behind).toBe(true);
  behind = 0;
  await vi.advanceTimersByTimeAsync(2000);
  expect(search.hits).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked()).toHaveLength(2);
});

test("older hits come behind the newer ones", async () => {
  host.handle("search.find", ({ before }) => (before === 2 ? { hits: [hit(1)] } : { hits: [hit(3), hit(2)], more: true }));
  search.type("one");
  await vi.advanceTimersByTimeAsync(250);
  await search.older();
  expect(search.hits.map((one) => one.id)).toEqual([3, 2, 1]);
  expect(search.more).toBe(false);
});
