// The page of the bench: it measures the wire, with the client that the product's page uses, beside a
// bare WebSocket to the same server, and checks streams. What to do comes from the address; what it
// found goes back by a call.
import type { HostEvent } from "../../frontend/src/host/host";
import { Wire, type Socket } from "../../frontend/src/host/wire";

const asked = new URLSearchParams(location.search);
const number = (name: string): number => Number(asked.get(name) ?? 0);
const key = new URLSearchParams(location.hash.replace(/^#/, "")).get("t") ?? "";
const address = `ws://${location.host}`;

const wire = new Wire({ connect: () => new WebSocket(`${address}/ws`) as unknown as Socket, key, version: "bench" });

/** Milliseconds that work took. */
async function time(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("the bare socket failed"));
  });
}

async function bareCalls(socket: WebSocket, text: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await new Promise<void>((resolve) => {
      socket.onmessage = () => resolve();
      socket.send(text);
    });
  }
}

function bareEvents(socket: WebSocket, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    socket.onmessage = (message: MessageEvent<string>) => {
      if (message.data.length !== 64) reject(new Error(`an event of ${message.data.length} bytes`));
      if (++seen === count) resolve();
    };
    socket.send(`events ${count}`);
  });
}

async function calls(text: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const folder = await wire.call("projects.browse", { path: text });
    if (folder.path !== text) throw new Error("another answer");
  }
}

function events(count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    const stop = wire.listen({
      event: (event: HostEvent) => {
        if (event.name !== "project.removed") return;
        if (event.data.id.length !== 64) reject(new Error(`an event of ${event.data.id.length} bytes`));
        if (++seen < count) return;
        stop();
        resolve();
      },
    });
    wire.call("projects.remove", { id: `events ${count}` }).catch(reject);
  });
}

/** Lets ours and the bare socket take turns, each coming first every other time. */
async function turns(rounds: number, bare: () => Promise<void>, ours: () => Promise<void>) {
  const result = { bare: [] as number[], ours: [] as number[] };
  for (let i = 0; i <= rounds; i++) {
    const order = i % 2 === 0 ? (["bare", "ours"] as const) : (["ours", "bare"] as const);
    for (const which of order) {
      const took = await time(which === "bare" ? bare : ours);
      if (i > 0) result[which].push(took);
    }
  }
  return result;
}

async function compare(): Promise<unknown> {
  const socket = new WebSocket(`${address}/bare`);
  await opened(socket);
  const text = "x".repeat(1024);
  const [count, flood, rounds] = [number("calls"), number("events"), number("rounds")];
  return {
    calls: await turns(rounds, () => bareCalls(socket, text, count), () => calls(text, count)),
    events: await turns(rounds, () => bareEvents(socket, flood), () => events(flood)),
  };
}

/** Follows streams of numbers and counts what is missing or out of order. */
function follow(): () => unknown {
  const next: Record<string, number> = {};
  const lengths: Record<string, number> = {};
  const found = { events: 0, tokens: 0, wrong: 0, resets: 0 };
  wire.listen({
    reset: () => void found.resets++,
    event: (event: HostEvent) => {
      if (event.name !== "entry.grew" && event.name !== "entry.changed") return;
      found.events++;
      const stream = event.data.workspace;
      const text = event.name === "entry.grew" ? event.data.text : (event.data.entry.text ?? "");
      if (event.name === "entry.changed") lengths[stream] = 0;
      else if (event.data.at !== lengths[stream]) found.wrong++;
      lengths[stream] = (lengths[stream] ?? 0) + text.length;
      for (let i = 0; i < text.length; i += 8) {
        const token = Number(text.slice(i, i + 8));
        if (token !== (next[stream] ?? 0)) found.wrong++;
        next[stream] = token + 1;
        found.tokens++;
      }
    },
  });
  for (let i = 0; i < number("streams"); i++) wire.join(`conversation/stream-${i}`);
  return () => found;
}

async function main(): Promise<void> {
  const report = (what: unknown) => wire.call("projects.drop", { paths: [JSON.stringify(what)] });
  const found = number("streams") > 0 ? follow() : undefined;
  wire.start();
  try {
    if (!found) {
      await report(await compare());
      return;
    }
    await report({ joined: true });
    setInterval(() => void report(found()), 1000);
  } catch (error) {
    await report({ error: String(error) });
  }
}

void main();
