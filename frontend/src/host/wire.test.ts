import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ConnectionState, HostEvent } from "./host";
import { Wire, type Socket } from "./wire";

class FakeSocket implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: unknown }) => void) | null = null;
  onclose: ((closed: { code: number; reason: string }) => void) | null = null;
  sent: Record<string, unknown>[] = [];
  closed = false;

  send(data: string | Uint8Array): void {
    if (typeof data === "string") this.sent.push(JSON.parse(data) as Record<string, unknown>);
  }
  close(): void {
    this.closed = true;
  }
  take(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  break(code = 1006, reason = ""): void {
    this.onclose?.({ code, reason });
  }
}

let sockets: FakeSocket[];
let wire: Wire;
let events: HostEvent[];
let states: ConnectionState[];
let resets: number;

const last = (): FakeSocket => sockets[sockets.length - 1] as FakeSocket;
const calls = (socket: FakeSocket) => socket.sent.filter((frame) => "call" in frame);

function welcome(core = "c1", seq = 10, resumed = false): FakeSocket {
  const socket = last();
  socket.onopen?.();
  socket.take({ welcome: { core, version: "1", seq, resumed } });
  return socket;
}

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  events = [];
  states = [];
  resets = 0;
  wire = new Wire({
    connect: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
    key: "secret",
    version: "1",
    random: () => 0.5,
  });
  wire.listen({ event: (event) => events.push(event), reset: () => resets++, connection: (state) => states.push(state) });
  wire.start();
});

afterEach(() => {
  vi.useRealTimers();
});

const seen = () => events.map((event) => event.name);
const settings = (seq: number) => ({ seq, event: "settings.changed", data: {} });

describe("calls", () => {
  test("wait for the welcome and resolve by id", async () => {
    const first = wire.call("projects.list", undefined);
    const second = wire.call("workspaces.list", { archived: true });
    expect(last().sent).toEqual([]);
    const socket = welcome();
    expect(socket.sent[0]).toEqual({ hello: { token: "secret", role: "browser", version: "1", join: [] } });
    expect(calls(socket)).toEqual([
      { id: 1, call: "projects.list" },
      { id: 2, call: "workspaces.list", args: { archived: true } },
    ]);
    socket.take({ id: 2, ok: ["w"] });
    socket.take({ id: 1, ok: ["p"] });
    await expect(first).resolves.toEqual(["p"]);
    await expect(second).resolves.toEqual(["w"]);
  });

  test("fail with the core's code and sentence", async () => {
    welcome();
    const call = wire.call("projects.add", { path: "/x" });
    last().take({ id: 1, error: { code: "not_found", message: "There is no folder at /x." } });
    await expect(call).rejects.toMatchObject({ code: "not_found", message: "There is no folder at /x." });
  });

  test("time out with a sentence", async () => {
    welcome();
    const call = expect(wire.call("projects.list", undefined)).rejects.toMatchObject({ code: "timeout" });
    await vi.advanceTimersByTimeAsync(30_000);
    await call;
  });

  test("that may be repeated are sent again after the link broke", async () => {
    welcome();
    const sent = wire.call("conversations.send", { workspace: "w", text: "hi", id: "m1" });
    last().break();
    await vi.advanceTimersByTimeAsync(300);
    expect(sockets).toHaveLength(2);
    const socket = welcome("c1", 10, true);
    expect(calls(socket)).toEqual([{ id: 1, call: "conversations.send", args: { workspace: "w", text: "hi", id: "m1" } }]);
    socket.take({ id: 1 });
    await expect(sent).resolves.toBeUndefined();
  });

  test("that may not be repeated fail when the link breaks under them", async () => {
    welcome();
    const made = wire.call("workspaces.create", { projectId: "p" });
    last().break();
    await expect(made).rejects.toMatchObject({ code: "connection_lost" });
    await vi.advanceTimersByTimeAsync(300);
    expect(calls(welcome())).toEqual([]);
  });

  test("made while the link is down wait for it, whatever they are", async () => {
    welcome();
    last().break();
    const made = wire.call("workspaces.create", { projectId: "p" });
    await vi.advanceTimersByTimeAsync(300);
    const socket = welcome("c1", 10, true);
    socket.take({ id: 1, ok: { id: "w" } });
    await expect(made).resolves.toEqual({ id: "w" });
  });
});

describe("events", () => {
  test("come in order, each once, and the hello asks for those after the last", async () => {
    const socket = welcome();
    socket.take(settings(11));
    socket.take(settings(14));
    socket.break();
    await vi.advanceTimersByTimeAsync(300);
    const again = last();
    again.onopen?.();
    expect(again.sent[0]).toMatchObject({ hello: { since: 14, core: "c1" } });
    again.take({ welcome: { core: "c1", version: "1", seq: 20, resumed: true } });
    again.take(settings(14));
    again.take(settings(15));
    expect(seen()).toHaveLength(3);
    expect(resets).toBe(0);
  });

  test("that are gone make every listener take snapshots again", async () => {
    welcome().break();
    await vi.advanceTimersByTimeAsync(300);
    const socket = welcome("another", 3);
    expect(resets).toBe(1);
    socket.take(settings(4));
    expect(seen()).toHaveLength(1);
  });

  test("are followed by a reset when this page was too slow", () => {
    const socket = welcome();
    socket.take({ reset: true, seq: 99 });
    expect(resets).toBe(1);
    socket.take(settings(99));
    socket.take(settings(100));
    expect(seen()).toHaveLength(1);
  });

  test("of a topic are asked for once, however many views share it, also after a reconnect", async () => {
    const socket = welcome();
    const leaveA = wire.join("conversation/a");
    const leaveB = wire.join("conversation/a");
    expect(socket.sent.filter((frame) => "join" in frame)).toEqual([{ join: ["conversation/a"] }]);
    leaveA();
    leaveA();
    socket.break();
    await vi.advanceTimersByTimeAsync(300);
    const again = welcome("c1", 10, true);
    expect(again.sent[0]).toMatchObject({ hello: { join: ["conversation/a"] } });
    leaveB();
    expect(again.sent.at(-1)).toEqual({ leave: ["conversation/a"] });
  });
});

describe("the connection", () => {
  test("is tried again with growing pauses, and at once when asked to", async () => {
    welcome();
    const pauses: number[] = [];
    for (let i = 0; i < 7; i++) {
      last().break();
      const state = wire.state();
      if (state.kind === "offline") pauses.push(state.nextTry - Date.now());
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(pauses).toEqual([250, 500, 1000, 2000, 2000, 2000, 2000].map((most) => most * 0.75));
    last().break();
    const count = sockets.length;
    wire.reconnect();
    expect(sockets).toHaveLength(count + 1);
  });

  test("stays offline since the first break, over failed attempts", async () => {
    welcome();
    last().break();
    const since = wire.state();
    await vi.advanceTimersByTimeAsync(300);
    last().break();
    expect(wire.state()).toMatchObject({ kind: "offline", since: since.kind === "offline" ? since.since : -1 });
  });

  test("that is refused says why and waits for another key", async () => {
    const socket = last();
    socket.onopen?.();
    socket.take({ error: { code: "unauthorized", message: "This key is not valid any more." } });
    socket.break(4401, "unauthorized");
    expect(wire.state()).toEqual({ kind: "refused", reason: "This key is not valid any more." });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sockets).toHaveLength(1);
    wire.reconnect("other");
    last().onopen?.();
    expect(last().sent[0]).toMatchObject({ hello: { token: "other" } });
    welcome();
    expect(wire.state().kind).toBe("online");
  });

  test("without a welcome in time counts as broken", async () => {
    await vi.advanceTimersByTimeAsync(10_000);
    expect(last().closed).toBe(true);
  });
});
