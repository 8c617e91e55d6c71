// Marks a text where it is drawn, without touching what is drawn: rows come and go, and texts grow.

const name = "found";
/** How many places are marked at a time. */
const most = 2000;

/** The places of a text below an element, in order. */
export function placesOf(root: Element, text: string): Range[] {
  const needle = text.toLowerCase();
  const found: Range[] = [];
  if (needle.trim() === "") return found;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && found.length < most; node = walker.nextNode()) {
    const shown = (node.nodeValue ?? "").toLowerCase();
    // A character whose small form is longer would shift the places; such a text is not marked.
    if (shown.length !== node.nodeValue?.length) continue;
    for (let at = shown.indexOf(needle); at >= 0 && found.length < most; at = shown.indexOf(needle, at + needle.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + needle.length);
      found.push(range);
    }
  }
  return found;
}

/** Marks the text in what is drawn below the element, and keeps doing so as it changes. The result stops. */
export function keepMarked(root: Element, text: () => string): () => void {
  if (!("highlights" in CSS)) return () => undefined;
  let frame = 0;
  const mark = () => {
    frame = 0;
    CSS.highlights.set(name, new Highlight(...placesOf(root, text())));
  };
  const soon = () => (frame ||= requestAnimationFrame(mark));
  const observer = new MutationObserver(soon);
  observer.observe(root, { childList: true, subtree: true, characterData: true });
  soon();
  return () => {
    observer.disconnect();
    cancelAnimationFrame(frame);
    CSS.highlights.delete(name);
  };
}
