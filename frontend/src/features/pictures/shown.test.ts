import { beforeEach, expect, test, vi } from "vitest";
import { FakeHost } from "../../host/fake/host";
import { ShownPictures } from "./shown";

let host: FakeHost;
let asked: string[];
let revoked: string[];

beforeEach(() => {
  asked = [];
  revoked = [];
  let next = 0;
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: () => `blob:${++next}`, revokeObjectURL: (url: string) => revoked.push(url) }));
  host = new FakeHost();
  host.picture = (_workspace, blob) => {
    asked.push(blob);
    return Promise.resolve(new Blob());
  };
});

test("a picture that was just shown is not fetched again", async () => {
  const shown = new ShownPictures(host);
  const first = await shown.hold("w", "a");
  shown.release("w", "a");
  expect(await shown.hold("w", "a")).toBe(first);
  expect(asked).toEqual(["a"]);
});

test("old ones that nobody shows are let go, those that are shown stay", async () => {
  const shown = new ShownPictures(host);
  await shown.hold("w", "kept");
  for (let i = 0; i < 60; i++) {
    await shown.hold("w", `${i}`);
    shown.release("w", `${i}`);
  }
  await Promise.resolve();
  expect(revoked).toHaveLength(20);
  expect(revoked).not.toContain("blob:1");
});

test("one that could not be fetched is asked for again", async () => {
  const shown = new ShownPictures(host);
  const { picture } = host;
  host.picture = () => Promise.reject(new Error("gone"));
  await expect(shown.hold("w", "a")).rejects.toThrow();
  host.picture = picture;
  expect(await shown.hold("w", "a")).toMatch(/^blob:/);
});
