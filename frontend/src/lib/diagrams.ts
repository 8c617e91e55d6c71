// Draws diagrams from their source. The library is large: it is loaded when the first one is shown.
import DOMPurify from "dompurify";

type Mermaid = typeof import("mermaid").default;

/** Longer sources, in characters, are not drawn. */
const most = 20_000;
const edges = 300;
/** The largest picture, in pixels along a side. */
const side = 16_000;
const fixed = ["secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "suppressErrorRendering", "themeCSS", "themeVariables", "theme", "fontFamily", "altFontFamily", "htmlLabels", "flowchart", "sequence", "layout", "look", "dompurifyConfig"];

export interface Drawing {
  /** The picture, an SVG document that is shown as an image: nothing in it can run or load anything. */
  svg: Blob;
  width: number;
  height: number;
}

export class Diagrams {
  #mermaid: Promise<Mermaid> | undefined;
  #count = 0;
  /** One at a time: the library keeps its settings to itself. */
  #last: Promise<unknown> = Promise.resolve();

  /** Draws one; it fails on a source that is wrong or too large. */
  draw(source: string, theme: "light" | "dark"): Promise<Drawing> {
    const drawn = this.#last.then(() => this.#draw(source, theme));
    this.#last = drawn.catch(() => undefined);
    return drawn;
  }

  async #draw(source: string, theme: "light" | "dark"): Promise<Drawing> {
    if (source.length > most) throw new Error("The diagram is too large.");
    this.#mermaid ??= import("mermaid").then((module) => module.default);
    this.#mermaid.catch(() => (this.#mermaid = undefined));
    const mermaid = await this.#mermaid;
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      suppressErrorRendering: true,
      maxTextSize: most,
      maxEdges: edges,
      htmlLabels: false,
      flowchart: { htmlLabels: false },
      // A picture has the fonts of the system only.
      fontFamily: "system-ui, sans-serif",
      theme: theme === "dark" ? "dark" : "neutral",
      secure: fixed,
    });
    // It measures what it draws in the page, out of sight.
    const stage = document.createElement("div");
    stage.setAttribute("aria-hidden", "true");
    stage.style.cssText = "position:fixed;left:-20000px;top:0;width:1200px;visibility:hidden;contain:layout style paint";
    document.body.append(stage);
    try {
      const { svg } = await mermaid.render(`diagram-${++this.#count}`, tame(source), stage);
      return picture(svg);
    } finally {
      stage.remove();
    }
  }
}

/**
 * A source without HTML that has attributes, however it is written. While it measures, the library puts labels
 * into the page as HTML, before it sanitises anything; names alone, such as <br> or <<interface>>, are harmless.
 */
export function tame(source: string): string {
  return source
    // Menus of actors are made with handlers in attributes, which the page's policy forbids.
    .replace(/^[ \t]*links?[ \t][^\n]*$/gim, "")
    .replace(/[#&]#?(?:lt|0*60|x0*3c)(?![0-9a-z]);?/gi, "‹")
    .replace(/\\(?:x3c|u003c|u\{0*3c\}|U0000003c)/gi, "‹")
    .replace(/<(?=[a-z/!?])(?!\/?[a-z][a-z0-9_-]*\s*\/?>)/gi, "‹");
}

/** What passes the sanitiser of a drawing, as a document of its own. */
export function picture(svg: string): Drawing {
  const clean = DOMPurify.sanitize(svg, { USE_PROFILES: { svg: true, svgFilters: true }, FORBID_TAGS: ["a", "foreignObject", "image", "script"], FORBID_ATTR: ["href", "xlink:href"], RETURN_DOM_FRAGMENT: true });
  const root = clean.querySelector("svg");
  const box = (root?.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
  const [width, height] = [box[2] ?? 0, box[3] ?? 0];
  if (!root || !(width > 0 && width < side && height > 0 && height < side)) throw new Error("The diagram could not be drawn.");
  root.removeAttribute("style");
  root.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  root.setAttribute("width", String(Math.ceil(width)));
  root.setAttribute("height", String(Math.ceil(height)));
  const text = new XMLSerializer().serializeToString(root);
  return { svg: new Blob([text], { type: "image/svg+xml" }), width: Math.ceil(width), height: Math.ceil(height) };
}
