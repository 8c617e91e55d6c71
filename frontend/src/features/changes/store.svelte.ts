// A workspace's changes. They are asked for again when git's state changes, one question at a time.
import type { Diff, DiffFile, Host } from "../../host/host";
import { CallError, sentence } from "../../host/host";
import type { Loading } from "../../lib/collection.svelte";

export class Changes {
  #host: Host;
  #asking = false;
  #again = false;
  readonly workspace: string;
  state = $state.raw<Loading>({ kind: "loading" });
  diff = $state.raw<Diff | undefined>();
  chosen = $state("");
  /** What the workspace is compared with is gone. */
  baseGone = $state(false);

  constructor(host: Host, workspace: string) {
    this.#host = host;
    this.workspace = workspace;
  }

  get files(): DiffFile[] {
    return this.diff?.files ?? [];
  }

  get file(): DiffFile | undefined {
    return this.files.find((file) => file.path === this.chosen) ?? this.files[0];
  }

  async refresh(): Promise<void> {
    if (this.#asking) {
      this.#again = true;
      return;
    }
    this.#asking = true;
    try {
      this.diff = await this.#host.api.workspaces.diff({ id: this.workspace });
      this.state = { kind: "ready" };
      this.baseGone = false;
    } catch (error) {
      this.baseGone = error instanceof CallError && error.code === "no_such_base";
      this.state = { kind: "failed", message: sentence(error) };
    } finally {
      this.#asking = false;
      if (this.#again) {
        this.#again = false;
        void this.refresh();
      }
    }
  }

  /** Chooses the file before or after the chosen one. */
  step(by: number): void {
    const at = this.files.findIndex((file) => file.path === this.file?.path);
    const next = this.files[Math.min(this.files.length - 1, Math.max(0, at + by))];
    if (next) this.chosen = next.path;
  }
}
