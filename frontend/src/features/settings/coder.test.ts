import { beforeEach, expect, test } from "vitest";
import { CallError, type CoderState } from "../../host/host";
import { FakeHost } from "../../host/fake/host";
import { Coder } from "./coder.svelte";

const state = (changes: Partial<CoderState> = {}): CoderState => ({ url: "https://coder.example.com", connected: true, loaded: false, models: 0, providers: [], routes: [], ...changes });
let host: FakeHost;
let coder: Coder;
const asked = (name: string) => host.calls.filter((call) => call.name === name).map((call) => call.args);
/** A promise, and how it ends. */
function later<T>() {
  let done: (value: T) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => ([done, fail] = [yes, no]));
  return { promise, done, fail };
}
const soon = () => new Promise((done) => setTimeout(done));

beforeEach(() => {
  host = new FakeHost();
  host.handle("settings.loginCoder", () => ({ id: "one", address: "https://coder.example.com/oauth2/authorize" }));
  host.handle("settings.cancelCoder", () => undefined);
  coder = new Coder(host);
});

test("a login opens the browser, waits, and is connected", async () => {
  const waits = later<CoderState>();
  host.handle("settings.awaitCoder", () => waits.promise);
  const done = coder.connect("https://coder.example.com");
  expect(coder.login.kind).toBe("asking");
  await soon();
  expect(coder.login).toMatchObject({ kind: "waiting", id: "one" });
  expect(host.opened).toEqual(["https://coder.example.com/oauth2/authorize"]);
  expect(asked("settings.loginCoder")).toEqual([{ url: "https://coder.example.com", origin: location.origin }]);
  coder.openAgain();
  expect(host.opened).toHaveLength(2);
  waits.done(state());
  await done;
  expect(coder.connected).toBe(true);
  expect(coder.login.kind).toBe("none");
});

test("a login that is given up says nothing more", async () => {
  const waits = later<CoderState>();
  host.handle("settings.awaitCoder", () => waits.promise);
  const done = coder.connect("https://coder.example.com");
  await soon();
  await coder.cancel();
  expect(coder.login.kind).toBe("none");
  expect(asked("settings.cancelCoder")).toEqual([{ id: "one" }]);
  waits.fail(new CallError("cancelled", "The login was given up."));
  await done;
  expect(coder.problem).toBe("");
  expect(coder.connected).toBe(false);
});

test("one that is given up before it has an address is ended as soon as it has one", async () => {
  const begins = later<{ id: string; address: string }>();
  host.handle("settings.loginCoder", () => begins.promise);
  const done = coder.connect("https://coder.example.com");
  await soon();
  await coder.cancel();
  begins.done({ id: "late", address: "https://coder.example.com/a" });
  await done;
  expect(asked("settings.cancelCoder")).toEqual([{ id: "late" }]);
  expect(host.opened).toEqual([]);
});

test("what the deployment refuses is told, and asked for again it is gone", async () => {
  host.handle("settings.loadCoderCatalog", () => {
    throw new CallError("coder", "The models of gpt could not be listed.");
  });
  expect(await coder.loadCatalog()).toBe(false);
  expect(coder.problem).toBe("The models of gpt could not be listed.");
  host.handle("settings.loadCoderCatalog", () => state({ loaded: true, models: 3 }));
  expect(await coder.loadCatalog()).toBe(true);
  expect([coder.problem, coder.state?.models]).toEqual(["", 3]);
});

test("an older look at the state does not undo what was done since", async () => {
  const look = later<CoderState>();
  host.handle("settings.coder", () => look.promise);
  const looking = coder.refresh();
  host.handle("settings.logoutCoder", () => state({ connected: false }));
  await coder.logout();
  look.done(state());
  await looking;
  expect(coder.connected).toBe(false);
});
