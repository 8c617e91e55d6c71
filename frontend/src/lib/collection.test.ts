import { expect, test } from "vitest";
import { Collection } from "./collection.svelte";

interface Thing {
  id: string;
  rev: number;
}

function later<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}

const ids = (collection: Collection<Thing>) => collection.all.map((one) => `${one.id}${one.rev}`).sort();

test("an older copy never replaces a newer one", () => {
  const things = new Collection<Thing>(() => Promise.resolve([]));
  things.put({ id: "a", rev: 5 });
  things.put({ id: "a", rev: 3 });
  expect(ids(things)).toEqual(["a5"]);
});

test("events during a snapshot win over it", async () => {
  const answer = later<Thing[]>();
  const things = new Collection<Thing>(() => answer.promise);
  const done = things.refresh();
  things.put({ id: "new", rev: 9 });
  things.put({ id: "a", rev: 8 });
  things.remove("gone");
  answer.resolve([{ id: "a", rev: 2 }, { id: "gone", rev: 1 }, { id: "b", rev: 1 }]);
  await done;
  expect(ids(things)).toEqual(["a8", "b1", "new9"]);
  expect(things.state).toEqual({ kind: "ready" });
});

test("a snapshot drops what is no longer there", async () => {
  const things = new Collection<Thing>(() => Promise.resolve([{ id: "b", rev: 1 }]));
  things.put({ id: "a", rev: 1 });
  await things.refresh();
  expect(ids(things)).toEqual(["b1"]);
});

test("the snapshot of a core that was started again replaces what an older one said", async () => {
  const answer = later<Thing[]>();
  const things = new Collection<Thing>(() => answer.promise);
  things.put({ id: "a", rev: 70 });
  things.put({ id: "b", rev: 80 });
  const done = things.refresh();
  things.put({ id: "b", rev: 3 });
  answer.resolve([{ id: "a", rev: 1 }, { id: "b", rev: 2 }]);
  await done;
  expect(ids(things)).toEqual(["a1", "b3"]);
});

test("a failed first snapshot is told; a later one keeps what is shown", async () => {
  let fail = true;
  const things = new Collection<Thing>(() => (fail ? Promise.reject(new Error("No link.")) : Promise.resolve([{ id: "a", rev: 1 }])));
  await things.refresh();
  expect(things.state).toEqual({ kind: "failed", message: "No link." });
  fail = false;
  await things.refresh();
  fail = true;
  await things.refresh();
  expect(things.state).toEqual({ kind: "ready" });
  expect(ids(things)).toEqual(["a1"]);
});
