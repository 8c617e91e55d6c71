// A real core with a data root of its own, and a repository for it to work on.
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The binary that journeys run; they are skipped without it. */
export const binary = process.env["CARREL_BIN"] ?? join(import.meta.dirname, "../../bin/carrel");
export const hasBinary = existsSync(binary);

export interface Core {
  /** The address with its key. */
  link: string;
  root: string;
  home: string;
  env: NodeJS.ProcessEnv;
  /** Ends the core as a crash would and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with the same key and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const leftOut = /^(CARREL|ANTHROPIC|OPENAI|XUM|MUX|GIT)_/;

interface Running {
  link: string;
  end(signal: NodeJS.Signals): Promise<void>;
}

async function serve(env: NodeJS.ProcessEnv, cwd: string, port: string, key: string): Promise<Running> {
  const child = spawn(binary, ["serve", "--port", port], { env: { ...env, CARREL_SERVER_AUTH_TOKEN: key }, cwd, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  let said = "";
  const address = await new Promise<string>((found, failed) => {
    const read = (chunk: Buffer) => {
      said += chunk.toString();
      const match = /https?:\/\/[^\s#]+/.exec(said);
      if (match) found(match[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => failed(new Error(`carrel serve ended with ${code}: ${said}`)));
  });
  return {
    link: `${address}#t=${key}`,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Starts `carrel serve` in a temporary home and waits for the address that it prints. */
export async function startCore(): Promise<Core> {
  const base = mkdtempSync(join(tmpdir(), "carrel-e2e-"));
  const home = join(base, "home");
  const root = join(base, "root");
  mkdirSync(home);
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !leftOut.test(name)));
  const env: NodeJS.ProcessEnv = { ...inherited, HOME: home, CARREL_ROOT: root, GIT_CONFIG_GLOBAL: "/dev/null", GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.org", GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.org" };
  const key = randomBytes(32).toString("hex");
  let running = await serve(env, base, "0", key);
  const port = new URL(running.link).port;
  return {
    link: running.link,
    root,
    home,
    env,
    kill: () => running.end("SIGKILL"),
    restart: async () => {
      running = await serve(env, base, port, key);
    },
    stop: async () => {
      await running.end("SIGTERM");
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** Makes a small repository in the core's home. */
export function makeRepository(core: Core, name: string): string {
  const path = join(core.home, name);
  mkdirSync(join(path, "store"), { recursive: true });
  writeFileSync(join(path, "README.md"), `# ${name}\n\nA small project.\n`);
  writeFileSync(join(path, "store/store.go"), "package store\n\nfunc Answer() int { return 42 }\n");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: path, env: core.env });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "a first commit");
  return path;
}
