// The real Carrel with a home and a data root of its own, and real repositories for it.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

export const binary = join(import.meta.dirname, "../../bin/carrel");
const exec = promisify(execFile);
/** How long a start or an end may take, in milliseconds. */
const patience = 60_000;

export class Carrel {
  readonly dir: string;
  readonly home: string;
  readonly root: string;
  /** The address that the first start printed, with the key; later starts keep it. */
  link = "";
  #env: Record<string, string>;
  #server: ChildProcess | undefined;
  #log = "";
  /** How the server ended when nobody had asked it to. */
  fate = "";

  private constructor(dir: string, env: Record<string, string>) {
    this.dir = dir;
    this.home = join(dir, "home");
    this.root = join(dir, "root");
    // Nothing of the person who runs the tests gets in: no keys, no settings, no git configuration.
    this.#env = { PATH: process.env["PATH"] ?? "", HOME: this.home, CARREL_ROOT: this.root, LANG: "C.UTF-8", GIT_CONFIG_NOSYSTEM: "1", CARREL_DEMO_DELAY: "1ms", CARREL_MODE: "bypass", CARREL_SANDBOX: "danger-full-access", ...env };
  }

  /** Makes one; nothing runs yet. */
  static async make(env: Record<string, string> = {}): Promise<Carrel> {
    const carrel = new Carrel(await realpath(await mkdtemp(join(tmpdir(), "carrel-"))), env);
    await mkdir(carrel.home);
    await mkdir(carrel.root, { mode: 0o700 });
    await writeFile(join(carrel.home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n");
    return carrel;
  }

  /** Starts `carrel serve`; again after an end, at the same address with the same key. */
  async start(): Promise<void> {
    const before = this.link ? new URL(this.link) : undefined;
    const key = before ? { CARREL_SERVER_AUTH_TOKEN: this.key } : {};
    const server = spawn(binary, ["serve", "--port", before?.port ?? "0"], { cwd: this.home, env: { ...this.#env, ...key }, stdio: ["ignore", "pipe", "pipe"] });
    this.#server = server;
    server.once("exit", (code, signal) => {
      if (this.#server === server) this.fate = `carrel serve ended by itself with ${code ?? signal}: ${this.#log}`;
    });
    process.once("exit", () => server.kill("SIGKILL"));
    const said = new Promise<string>((done, fail) => {
      let text = "";
      server.stdout.on("data", (piece) => {
        text += String(piece);
        const found = /Carrel is at (\S+)/.exec(text)?.[1];
        if (found) done(found);
      });
      server.stderr.on("data", (piece) => (this.#log += String(piece)));
      server.once("exit", (code) => fail(new Error(`carrel serve ended with ${code}: ${this.#log}`)));
    });
    said.catch(() => undefined);
    const address = await within(said, "the start of carrel serve");
    this.#log += address.includes("#") ? "" : `${address}\n`;
    this.link ||= address;
  }

  /** The access token. */
  get key(): string {
    return /#t=([^&]+)/.exec(this.link)?.[1] ?? "";
  }

  get origin(): string {
    return new URL(this.link).origin;
  }

  /** What the server has written to its terminal, apart from the address with the key. */
  get log(): string {
    return this.#log;
  }

  /** The process, for kill -9. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, "exit");
    server.kill(signal);
    await within(gone, `the end of carrel serve after ${signal}`);
  }

  async dispose(): Promise<void> {
    await this.stop().catch(() => this.kill());
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Runs a command of carrel beside the server and gives what it printed. */
  async command(args: string[], cwd = this.home): Promise<string> {
    return (await exec(binary, args, { cwd, env: this.#env, timeout: patience })).stdout;
  }

  /** Writes providers.jsonc. */
  async providers(config: object): Promise<void> {
    await writeFile(join(this.root, "providers.jsonc"), JSON.stringify(config), { mode: 0o600 });
  }

  /** Makes a repository with one commit in the home folder. */
  async repository(name: string, files: Record<string, string> = { "README.md": `# ${name}\n` }): Promise<string> {
    const dir = join(this.home, name);
    await mkdir(dir, { recursive: true });
    await this.git(dir, "init", "--quiet");
    await write(dir, files);
    await this.git(dir, "add", "--all");
    await this.git(dir, "commit", "--quiet", "--allow-empty", "-m", "First");
    return dir;
  }

  /** Gives a repository 1,200 commits more, as one that people work on has. */
  async history(dir: string): Promise<void> {
    const branch = await this.git(dir, "symbolic-ref", "HEAD");
    const commits = Array.from({ length: 1200 }, (_, i) =>
      `commit ${branch}\ncommitter A <a@example.org> ${1700000000 + i} +0000\ndata 7\nChange\n` +
      (i === 0 ? `from ${branch}^0\n` : "") + `M 100644 inline src/${i}.txt\ndata 5\nline\n\n`);
    const git = exec("git", ["fast-import", "--quiet"], { cwd: dir, env: this.#env });
    git.child.stdin?.end(commits.join(""));
    await git;
    await this.git(dir, "reset", "--quiet", "--hard");
  }

  async git(dir: string, ...args: string[]): Promise<string> {
    return (await exec("git", args, { cwd: dir, env: this.#env })).stdout.trim();
  }

  /** The folder of the workspace with this name. */
  async folder(workspace: string): Promise<string> {
    const src = join(this.root, "src");
    for (const project of await readdir(src)) {
      if ((await readdir(join(src, project))).includes(workspace)) return join(src, project, workspace);
    }
    throw new Error(`no folder of a workspace ${workspace} in ${src}`);
  }

  /** The folder with the log of the one conversation there is. */
  async session(): Promise<string> {
    const sessions = join(this.root, "sessions");
    const [only, ...more] = await readdir(sessions);
    if (only === undefined || more.length > 0) throw new Error(`${more.length + (only === undefined ? 0 : 1)} sessions in ${sessions}, not one`);
    return join(sessions, only);
  }
}

/** Writes files below a folder. */
export async function write(dir: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
}

/** Whether a process runs whose command line holds the text. */
export async function running(text: string): Promise<boolean> {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (line.replaceAll("\0", " ").includes(text)) return true;
  }
  return false;
}

/** Fails, with a sentence, when the work takes too long. */
async function within<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, fail) => (timer = setTimeout(() => fail(new Error(`${what} took more than ${patience / 1000} s`)), patience)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
