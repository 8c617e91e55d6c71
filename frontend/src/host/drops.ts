// Folders that are dropped on the page. In the window its process hears of them and tells the core;
// in neither host may the page go to them, as it does by itself, or write their address somewhere.

/** Keeps the page where it is when files are dropped on it. */
export function keepDrops(kind: "browser" | "desktop", target: Document): void {
  // WebKitGTK says of files only that they are addresses.
  const files = (event: DragEvent) => {
    const types = event.dataTransfer?.types ?? [];
    return types.includes("Files") || (kind === "desktop" && types.includes("text/uri-list"));
  };
  for (const name of ["dragover", "drop"] as const) {
    target.addEventListener(name, (event) => {
      if (files(event)) event.preventDefault();
    });
  }
}
