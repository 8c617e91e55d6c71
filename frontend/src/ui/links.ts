// How a link leaves the app: the host decides, and refuses odd addresses.
import { createContext } from "svelte";

export const [useLinks, provideLinks] = createContext<(address: string) => void>();
