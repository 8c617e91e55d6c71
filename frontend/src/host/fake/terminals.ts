// Terminals in memory: each shows a short session, and echoes what is typed.
import type { Calls, CallName, HostEvent, HostStream, StreamListener, Terminal } from "../host";

type Answers = { [N in Extract<CallName, `terminals.${string}`>]: (args: Calls[N]["args"]) => Calls[N]["result"] };

const base: Terminal = { id: "t1", workspace: "w1", group: "t1", number: 1, name: "", title: "", program: "", dir: "/home/ada/src/harbor", busy: false, bells: 0, cols: 80, rows: 24, confined: false };
const shown = "\x1b[32mada@mill\x1b[m:\x1b[34m~/src/harbor\x1b[m$ make test\r\nok   harbor/upload   \x1b[32m0.412s\x1b[m\r\nok   harbor/retry    \x1b[32m1.008s\x1b[m\r\n\x1b[31mFAIL\x1b[m harbor/jitter   0.077s\r\n\x1b[32mada@mill\x1b[m:\x1b[34m~/src/harbor\x1b[m$ ";

export class FakeTerminals {
  all: Terminal[] = [{ ...base }, { ...base, id: "t2", group: "t2", number: 2, title: "npm run dev", busy: true }];
  /** What was typed, by terminal. */
  typed = new Map<string, string>();

  answers(emit: (event: HostEvent) => void): Answers {
    const change = (terminal: Terminal) => {
      this.all = [...this.all.filter((one) => one.id !== terminal.id), terminal].sort((a, b) => a.number - b.number);
      emit({ name: "terminal.changed", data: { terminal } });
      return terminal;
    };
    return {
      "terminals.list": ({ id }) => this.all.filter((one) => id === "" || one.workspace === id),
      "terminals.open": (args) => {
        const number = Math.max(0, ...this.all.map((one) => one.number)) + 1;
        const id = `t${number}`;
        return change({ ...base, id, number, workspace: args.workspace, confined: args.confined ?? false, group: this.all.find((one) => one.id === args.beside)?.group ?? id });
      },
      "terminals.close": ({ id }) => {
        const gone = this.all.find((one) => one.id === id);
        this.all = this.all.filter((one) => one.id !== id);
        if (gone) emit({ name: "terminal.closed", data: { id, workspace: gone.workspace } });
      },
      "terminals.rename": ({ id, name }) => change({ ...(this.all.find((one) => one.id === id) ?? base), name }),
      "terminals.type": ({ id, text }) => {
        this.typed.set(id, (this.typed.get(id) ?? "") + text);
        return { left: 0 };
      },
      "terminals.editors": () => [
        { id: "vscode", name: "VS Code", terminal: false, inside: false },
        { id: "vim", name: "Vim", terminal: false, inside: true },
        { id: "konsole", name: "Konsole", terminal: true, inside: false },
      ],
      "terminals.openEditor": (args) => ({ editor: args.editor ?? "VS Code" }),
    };
  }

  open(args: unknown, listener: StreamListener): HostStream {
    const { cols = 80, rows = 24, id } = args as { cols?: number; rows?: number; id: string };
    const record = (kind: number, payload: Uint8Array) => {
      const bytes = new Uint8Array(5 + payload.length);
      bytes[0] = kind;
      new DataView(bytes.buffer).setUint32(1, payload.length);
      bytes.set(payload, 5);
      listener.data(bytes);
    };
    const text = new TextEncoder().encode(shown);
    const screen = new Uint8Array(4 + text.length);
    new DataView(screen.buffer).setUint16(0, cols || 80);
    new DataView(screen.buffer).setUint16(2, rows || 24);
    screen.set(text, 4);
    queueMicrotask(() => record(1, screen));
    return {
      write: (bytes) => {
        if (bytes[0] !== 0) return;
        this.typed.set(id, (this.typed.get(id) ?? "") + new TextDecoder().decode(bytes.subarray(5)));
        record(0, bytes.slice(5));
      },
      take: () => undefined,
      close: () => undefined,
    };
  }
}
