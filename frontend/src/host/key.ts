// The page's key to the core. It arrives in the address's fragment, which no server sees or logs,
// and moves to the tab's storage at once, so that it stays out of the address bar and the history.

const KEY = "carrel.key";
const KIND = "carrel.host";
const OLDER = "carrel.older";

/** What the address and the tab's storage say about this page. */
export interface PageIdentity {
  key: string;
  kind: "browser" | "desktop";
  /** The window is of a newer version than the core, which goes on because something works in it. */
  older: boolean;
}

/** Reads `#t=KEY&host=desktop&older=1`, remembers it for the tab, and clears the fragment. */
export function readIdentity(location: Location, history: History, storage: Storage): PageIdentity {
  const fragment = new URLSearchParams(location.hash.replace(/^#/, ""));
  const key = fragment.get("t");
  if (key !== null) {
    storage.setItem(KEY, key);
    storage.setItem(KIND, fragment.get("host") === "desktop" ? "desktop" : "browser");
    storage.setItem(OLDER, fragment.get("older") === "1" ? "1" : "");
    history.replaceState(history.state, "", location.pathname + location.search);
  }
  return {
    key: storage.getItem(KEY) ?? "",
    kind: storage.getItem(KIND) === "desktop" ? "desktop" : "browser",
    older: storage.getItem(OLDER) === "1",
  };
}

/** Remembers a key that the person typed: the key itself or an address that carries it. */
export function rememberKey(typed: string, storage: Storage): string {
  const key = /#(?:.*&)?t=([^&\s]+)/.exec(typed)?.[1] ?? typed.trim();
  storage.setItem(KEY, key);
  return key;
}
