// A fake Coder deployment: the one of the Go tests, as a process of its own.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { promisify } from "node:util";

const top = join(import.meta.dirname, "../..");
const exec = promisify(execFile);

/** What a deployment has; see fakecoder.State. */
export interface Deployment {
  Providers?: { Name: string; Type: string }[];
  Models?: Record<string, string[]>;
  Broken?: Record<string, number>;
  Deny?: boolean;
}

export class FakeCoder {
  readonly url: string;
  #process: ChildProcess;
  #lines: AsyncIterator<string>;
  #dir: string;

  private constructor(url: string, process: ChildProcess, lines: AsyncIterator<string>, dir: string) {
    this.url = url;
    this.#process = process;
    this.#lines = lines;
    this.#dir = dir;
  }

  static async start(): Promise<FakeCoder> {
    const dir = await mkdtemp(join(tmpdir(), "coder-"));
    const binary = join(dir, "deployment");
    await exec("go", ["build", "-o", binary, "./agent/catalog/coder/fakecoder/deployment"], { cwd: top });
    const process = spawn(binary, { stdio: ["pipe", "pipe", "inherit"] });
    const said: Interface = createInterface({ input: process.stdout });
    const lines = said[Symbol.asyncIterator]();
    const first = await lines.next();
    return new FakeCoder(String(first.value), process, lines, dir);
  }

  async set(state: Deployment): Promise<void> {
    this.#process.stdin?.write(`${JSON.stringify(state)}\n`);
    const answer = await this.#lines.next();
    if (answer.value !== "ok") throw new Error(`the deployment said ${String(answer.value)}`);
  }

  async close(): Promise<void> {
    const gone = once(this.#process, "exit");
    this.#process.stdin?.end();
    await gone;
    await rm(this.#dir, { recursive: true, force: true });
  }
}
