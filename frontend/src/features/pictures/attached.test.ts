import { beforeEach, expect, test, vi } from "vitest";
import { CallError, type Uploaded } from "../../host/host";
import { FakeHost } from "../../host/fake/host";
import { Attachments, largest } from "./attached.svelte";

let host: FakeHost;
let attachments: Attachments;
let revoked: string[];
const picture = (name: string, size = 10) => new File([new Uint8Array(size)], name, { type: "image/png" });
const names = () => attachments.of("w").map((one) => one.name);
const settled = () => attachments.ready("w");

beforeEach(() => {
  let next = 0;
  revoked = [];
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: () => `blob:${++next}`, revokeObjectURL: (url: string) => revoked.push(url) }));
  host = new FakeHost();
  attachments = new Attachments(host);
});

test("pictures are handed to the core at once, and go with the message in their order", async () => {
  attachments.add("w", [picture("a.png"), picture("b.png")]);
  expect(attachments.of("w").map((one) => one.file)).toEqual([undefined, undefined]);
  expect(await settled()).toBe(true);
  const sent = attachments.take("w");
  expect(sent.files).toEqual([{ name: "a.png", upload: "u1" }, { name: "b.png", upload: "u2" }]);
  expect(sent.urls).toEqual([{ url: "blob:1", name: "a.png" }, { url: "blob:2", name: "b.png" }]);
  expect([names(), revoked]).toEqual([[], []]);
});

test("what can't be sent is told and left out, the rest stays", async () => {
  attachments.add("w", [picture("a.png"), new File(["x"], "notes.txt", { type: "text/plain" }), new File(["x"], "more.txt", { type: "text/plain" })]);
  expect(attachments.problem("w")).toBe("notes.txt and 1 other can’t be attached: only pictures can. Name a file in the text, and the agent reads it.");
  const huge = picture("huge.png");
  Object.defineProperty(huge, "size", { value: largest + 1 });
  attachments.add("w", [huge]);
  expect(attachments.problem("w")).toBe("huge.png can’t be attached: a picture may have 20 MB.");
  attachments.add("w", Array.from({ length: 22 }, (_, i) => picture(`${i}.png`)));
  expect(attachments.problem("w")).toBe("A message takes 20 pictures; 3 pictures did not fit.");
  expect(names()).toHaveLength(20);
  await settled();
  expect(host.uploads).toHaveLength(20);
});

test("one that the core refuses goes, with the reason", async () => {
  host.refuseUpload = (name) => (name === "b.png" ? new CallError("bad_file", "This is no picture.") : undefined);
  attachments.add("w", [picture("a.png"), picture("b.png")]);
  expect(await settled()).toBe(false);
  expect(names()).toEqual(["a.png"]);
  expect(attachments.problem("w")).toBe("b.png: This is no picture.");
  expect(revoked).toEqual(["blob:2"]);
  attachments.dismiss("w");
  expect(attachments.problem("w")).toBe("");
});

test("one that is taken back while it is on its way is not waited for", async () => {
  const signals: (AbortSignal | undefined)[] = [];
  host.upload = (_file, _name, signal) => new Promise<Uploaded>(() => signals.push(signal));
  attachments.add("w", [picture("a.png")]);
  const ready = settled();
  attachments.remove("w", attachments.of("w")[0]?.key ?? 0);
  await ready;
  expect(signals.map((one) => one?.aborted)).toEqual([true]);
  expect(names()).toEqual([]);
});

test("only a few are on their way at a time", async () => {
  let running = 0;
  let most = 0;
  host.upload = async (_file, name) => {
    most = Math.max(most, ++running);
    await new Promise((done) => setTimeout(done));
    running--;
    return { id: name, mime: "image/png", size: 1, width: 1, height: 1 };
  };
  attachments.add("w", Array.from({ length: 9 }, (_, i) => picture(`${i}.png`)));
  expect(await settled()).toBe(true);
  expect([most, names().length]).toEqual([3, 9]);
});

test("a draft's pictures are shown again, and those that are shown stay", async () => {
  const changed: string[] = [];
  attachments.onchange = (workspace) => changed.push(workspace);
  attachments.add("w", [picture("a.png")]);
  await settled();
  expect(changed).toEqual(["w"]);
  const first = attachments.of("w")[0];
  attachments.restore("w", [{ name: "b.png", upload: "u9" }, { name: "a.png", upload: "u1" }]);
  await vi.waitFor(() => expect(attachments.of("w")[0]?.url).toBe("blob:2"));
  expect(attachments.of("w")[1]).toBe(first);
  attachments.restore("w", []);
  expect([names(), revoked, changed]).toEqual([[], ["blob:2", "blob:1"], ["w"]]);
});

test("pictures that the core has already are attached as they are", async () => {
  const changed: string[] = [];
  attachments.onchange = (workspace) => changed.push(workspace);
  attachments.addUploaded("w", Array.from({ length: 21 }, (_, i) => ({ name: `${i}.png`, upload: `u${i}` })));
  expect(names()).toHaveLength(20);
  expect(attachments.problem("w")).toBe("A message takes 20 pictures; 1 picture did not fit.");
  await vi.waitFor(() => expect(attachments.of("w").every((one) => one.url)).toBe(true));
  expect([host.uploads, changed]).toEqual([[], ["w"]]);
  expect(attachments.take("w").files[0]).toEqual({ name: "0.png", upload: "u0" });
});
