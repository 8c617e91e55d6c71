// Loads the editor, once, when the page has been shown.
type Editor = typeof import("./editor/mount");

let loaded: Editor | undefined;

/** The editor, if it is there. */
export function editor(): Editor | undefined {
  return loaded;
}

/** Loads it; undefined when that fails, and the plain box stays. */
export async function loadEditor(): Promise<Editor | undefined> {
  // Two frames: the first paint goes before it.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  try {
    loaded ??= await import("./editor/mount");
  } catch {
    return undefined;
  }
  return loaded;
}
