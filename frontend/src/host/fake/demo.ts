// A turn that streams, on the fake host: for looking at the page and for the journeys.
import type { FakeHost } from "./host";
import { entry } from "./world";

const answer = `I looked at the layout first. The parts that matter:

- \`cmd/\` reads the arguments and nothing else.
- \`store/\` keeps blobs; **uploads** are retried there.
- \`transport/\` speaks to the other end.

\`\`\`go
func delay(n int) time.Duration {
	top := min(base<<n, ceiling)
	return rand.N(top)
}
\`\`\`

Next I change the loop, run the tests, and commit. See [the guide](https://example.org/guide).
`;

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Answers each message with a short turn: text that streams, then a command that runs. */
export function playDemo(host: FakeHost, pace = 24): void {
  host.handle("conversations.send", ({ workspace, text }) => {
    host.put(workspace, entry({ kind: "user", text }));
    void turn(host, workspace, pace);
  });
  const stopped = new Set<string>();
  host.handle("conversations.interrupt", ({ id }) => {
    stopped.add(id);
    host.update(id, { activity: "interrupting" });
  });

  async function turn(on: FakeHost, id: string, ms: number): Promise<void> {
    stopped.delete(id);
    on.update(id, { activity: "preparing" });
    await pause(ms * 4);
    on.update(id, { activity: "streaming" });
    let said = entry({ kind: "assistant", text: "", live: true, model: "demo:demo" });
    on.put(id, said);
    for (let i = 0; i < answer.length && !stopped.has(id); i += 9) {
      said = on.grow(id, said, "text", answer.slice(i, i + 9));
      await pause(ms);
    }
    on.put(id, { ...said, live: false });
    if (!stopped.has(id)) await run(on, id, ms);
    if (stopped.has(id)) on.put(id, entry({ kind: "turn_end", code: "interrupted", text: "You stopped the agent." }));
    on.update(id, { activity: stopped.has(id) ? "interrupted" : "idle" });
  }

  async function run(on: FakeHost, id: string, ms: number): Promise<void> {
    on.update(id, { activity: "running_tools" });
    const call = { name: "bash", status: "running" as const, input: JSON.stringify({ script: "go test ./..." }), started: new Date().toISOString() };
    let row = entry({ kind: "tool", tool: { ...call, output: "" } });
    on.put(id, row);
    for (const line of ["ok  \tharbor/cmd\t0.21s\n", "ok  \tharbor/store\t3.08s\n", "ok  \tharbor/transport\t1.12s\n"]) {
      await pause(ms * 8);
      if (stopped.has(id)) break;
      row = on.grow(id, row, "output", line);
    }
    const status = stopped.has(id) ? ("interrupted" as const) : ("ok" as const);
    on.put(id, { ...row, tool: { ...call, output: row.tool?.output ?? "", status, detail: { exitCode: 0, durationMs: 4410 } } });
  }
}
