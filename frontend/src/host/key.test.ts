import { expect, test } from "vitest";
import { readIdentity, rememberKey } from "./key";

function page(address: string) {
  const url = new URL(address);
  const shown: string[] = [];
  const values = new Map<string, string>();
  return {
    location: { hash: url.hash, pathname: url.pathname, search: url.search } as Location,
    history: { state: null, replaceState: (_state: unknown, _title: string, to: string) => shown.push(to) } as unknown as History,
    storage: { getItem: (key: string) => values.get(key) ?? null, setItem: (key: string, value: string) => void values.set(key, value) } as unknown as Storage,
    shown,
  };
}

test("the key moves from the fragment to the tab and leaves the address bar", () => {
  const { location, history, storage, shown } = page("http://127.0.0.1:4000/?a=1#t=k3y&host=desktop");
  expect(readIdentity(location, history, storage)).toEqual({ key: "k3y", kind: "desktop", older: false });
  expect(shown).toEqual(["/?a=1"]);
  const reloaded = page("http://127.0.0.1:4000/");
  expect(readIdentity(reloaded.location, history, storage)).toEqual({ key: "k3y", kind: "desktop", older: false });
});

test("an older core is known until the page is led elsewhere, also after a reload", () => {
  const { location, history, storage } = page("http://127.0.0.1:4000/#t=k3y&host=desktop&older=1");
  expect(readIdentity(location, history, storage).older).toBe(true);
  expect(readIdentity(page("http://127.0.0.1:4000/").location, history, storage).older).toBe(true);
  expect(readIdentity(page("http://127.0.0.1:4000/#t=k3y&host=desktop").location, history, storage).older).toBe(false);
});

test("a pasted address or a bare key both give the key", () => {
  const { storage } = page("http://x/");
  expect(rememberKey(" abc ", storage)).toBe("abc");
  expect(rememberKey("http://127.0.0.1:4000/#t=abc&host=browser", storage)).toBe("abc");
});
