// The state of the link to the core, for every view that shows it.
import { createContext } from "svelte";
import type { ConnectionState, Host } from "../../host/host";

export class Connection {
  state = $state.raw<ConnectionState>({ kind: "connecting" });

  constructor(host: Host) {
    this.state = host.connection();
    host.listen({ connection: (state) => (this.state = state) });
  }

  get online(): boolean {
    return this.state.kind === "online";
  }
}

export const [useConnection, provideConnection] = createContext<Connection>();
