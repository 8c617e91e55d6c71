// What every view may ask for: the host, and the shell's state.
import { createContext } from "svelte";
import type { Host } from "../host/host";
import type { Shell } from "./shell.svelte";

export const [useHost, provideHost] = createContext<Host>();
export const [useShell, provideShell] = createContext<Shell>();
