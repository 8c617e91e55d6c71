// A conversation with one of everything that can be shown, on the fake host.
import type { FakeHost } from "./host";
import { entry } from "./world";

const answer = `The delay before attempt $n$ is drawn from $[0, \\min(b \\cdot 2^n, c)]$, so that on average

$$
\\mathbb{E}[d_n] = \\frac{1}{2} \\min(b \\cdot 2^n, c) \\qquad \\sum_{n=0}^{k} \\mathbb{E}[d_n] \\le \\frac{(k+1)\\,c}{2}
$$

| attempt | ceiling | without jitter | with full jitter, on average |
| ---: | ---: | ---: | :--- |
| 0 | 200 ms | 200 ms | 100 ms |
| 1 | 400 ms | 400 ms | 200 ms |
| 5 | 6.4 s | 6.4 s | 3.2 s |

\`\`\`mermaid
flowchart LR
  A[Upload] --> B{Accepted?}
  B -- yes --> C[Done]
  B -- no --> D[Wait with jitter] --> A
\`\`\`

Try it:

\`\`\`sh
$ go test ./store -run Jitter -count=20
ok  harbor/store 3.08s
\`\`\`

<details><summary>Why *full* jitter</summary>

Half of the delay as a floor keeps the clients apart less well:

- they still come in waves,
- and the waves last longer.

</details>

![The measured delays](https://example.org/delays.png)
`;

const coloured = "\u001b[1m=== RUN   TestJitter\u001b[0m\n\u001b[32m--- PASS: TestJitter\u001b[0m (0.02s)\n\u001b[31m--- FAIL: TestCeiling\u001b[0m (0.00s)\n    uploader_test.go:41: got \u001b[33m6.9s\u001b[0m, want at most \u001b[36m6.4s\u001b[0m\n\u001b[41m FAIL \u001b[0m \u001b[2mharbor/store\u001b[0m 0.41s\n";

export function withEverything(host: FakeHost): void {
  const conversation = host.conversation("w2");
  const call = (name: string, input: object, more: object) => entry({ kind: "tool", tool: { name, input: JSON.stringify(input), status: "ok", ...more } });
  conversation.entries = [
    entry({ kind: "user", text: "How long does the uploader wait, and does it hold?" }),
    entry({ kind: "assistant", reasoning: true, text: "The ceiling is what matters; the tests may not cover it." }),
    call("file_read", { path: "store/uploader.go" }, { detail: { firstLine: 1, lastLine: 80, totalLines: 142 } }),
    call("bash", { script: "go test ./store -run 'Jitter|Ceiling' -v" }, { output: "plain", detail: { exitCode: 1, durationMs: 940, screen: coloured } }),
    call("lookup", { service: "uploader", limits: { attempts: 6, base: "200ms" }, tags: ["retry", "store"], strict: true }, { output: JSON.stringify({ found: 2, hosts: [{ name: "a1", load: 0.31 }, { name: "b7", load: 0.9 }] }) }),
    entry({ kind: "assistant", text: answer, model: "anthropic:claude-sonnet-5", usage: { input: 1800, output: 640, cacheRead: 21000, cacheWrite: 900, usd: 0.031 } }),
  ];
  host.handle("conversations.find", ({ workspace, text }) => {
    const hits = host.conversation(workspace).entries.toReversed().flatMap((one) => {
      const count = `${one.text ?? ""} ${one.tool?.input ?? ""} ${one.tool?.output ?? ""}`.toLowerCase().split(text.toLowerCase()).length - 1;
      return count > 0 ? [{ entry: one.id, order: one.order, count }] : [];
    });
    return { hits };
  });
  host.handle("conversations.raw", ({ workspace, entry: id }) => ({ text: JSON.stringify([{ seq: 41, kind: "assistant", message: host.conversation(workspace).entries.find((one) => one.id === id) }], null, 2) }));
  host.handle("conversations.startHere", ({ workspace, entry: id }) => host.put(workspace, entry({ kind: "boundary", code: "start", text: host.conversation(workspace).entries.find((one) => one.id === id)?.text ?? "" })));
  conversation.status = { ...conversation.status, activity: "idle" };
}
