// The connection to a Coder deployment. It outlives the settings dialog: a login waits for the browser.
import { sentence, type CoderState, type Host } from "../../host/host";

/** How far a login is. */
export type Login = { kind: "none" } | { kind: "asking" } | { kind: "waiting"; id: string; address: string };

/** What is asked of the deployment or the core. */
export type CoderWork = "refresh" | "load" | "route" | "logout";

export class Coder {
  #host: Host;
  #run = 0;
  #version = 0;
  state = $state.raw<CoderState | undefined>();
  login = $state.raw<Login>({ kind: "none" });
  busy = $state.raw<CoderWork | undefined>();
  problem = $state.raw("");

  constructor(host: Host) {
    this.#host = host;
  }

  get connected(): boolean {
    return this.state?.connected ?? false;
  }

  async refresh(): Promise<void> {
    const version = ++this.#version;
    const state = await this.#host.api.settings.coder();
    if (version === this.#version) this.state = state;
  }

  /** Logs in: the person approves it in the browser, which comes back to this page or to this machine. */
  async connect(url: string): Promise<void> {
    const run = ++this.#run;
    const { settings } = this.#host.api;
    this.problem = "";
    this.login = { kind: "asking" };
    try {
      const { id, address } = await settings.loginCoder({ url, ...(this.#host.kind === "browser" ? { origin: location.origin } : {}) });
      if (run !== this.#run) {
        await settings.cancelCoder({ id });
        return;
      }
      this.login = { kind: "waiting", id, address };
      this.#host.openLink(address);
      const state = await settings.awaitCoder({ id });
      if (run === this.#run) this.#take(state);
    } catch (error) {
      if (run === this.#run) this.problem = sentence(error);
    } finally {
      if (run === this.#run) this.login = { kind: "none" };
    }
  }

  /** Opens the page of the deployment again that the login waits for. */
  openAgain(): void {
    if (this.login.kind === "waiting") this.#host.openLink(this.login.address);
  }

  async cancel(): Promise<void> {
    const { login } = this;
    this.#run++;
    this.login = { kind: "none" };
    if (login.kind !== "waiting") return;
    // One that was approved just now stands; the settings tell of it.
    await this.#host.api.settings.cancelCoder({ id: login.id }).catch(() => undefined);
  }

  logout(): Promise<boolean> {
    return this.#do("logout", () => this.#host.api.settings.logoutCoder());
  }

  refreshProviders(): Promise<boolean> {
    return this.#do("refresh", () => this.#host.api.settings.refreshCoder());
  }

  loadCatalog(): Promise<boolean> {
    return this.#do("load", () => this.#host.api.settings.loadCoderCatalog());
  }

  /** Says which provider of the gateway serves a native one's models; "" is the default. */
  setRoute(native: string, provider: string): Promise<boolean> {
    return this.#do("route", () => this.#host.api.settings.setCoderRoute({ native, provider }));
  }

  async #do(work: CoderWork, act: () => Promise<CoderState>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = work;
    this.problem = "";
    try {
      this.#take(await act());
      return true;
    } catch (error) {
      this.problem = sentence(error);
      return false;
    } finally {
      this.busy = undefined;
    }
  }

  /** What a call answered is newer than what was asked for before it. */
  #take(state: CoderState): void {
    this.#version++;
    this.state = state;
  }
}
