// The gate between untrusted text and the page: whatever Markdown made, only this much passes.
import DOMPurify from "dompurify";
import { safeAddress } from "../host/host";

const tags = ["a", "b", "blockquote", "br", "code", "del", "details", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "li", "ol", "p", "pre", "s", "strong", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul"];

const purify = DOMPurify(window);
/** The classes that our own renderer gives, and the elements that it gives them to. */
const classes: Record<string, readonly string[]> = { CODE: ["formula", "formula display"], DIV: ["table"] };

purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.hasAttribute("class") && !classes[node.tagName]?.includes(node.getAttribute("class") ?? "")) node.removeAttribute("class");
  if (node.hasAttribute("tabindex") && (node.tagName !== "DIV" || node.getAttribute("tabindex") !== "0")) node.removeAttribute("tabindex");
  if (node.tagName !== "A") return;
  const address = safeAddress(node.getAttribute("href") ?? "");
  if (address === undefined) {
    node.removeAttribute("href");
    return;
  }
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
  node.setAttribute("title", address);
});

/** HTML that shows text and does nothing else: no scripts, styles, images, frames or odd links. */
export function sanitise(html: string): string {
  return purify.sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: ["href", "start", "class", "tabindex", "align"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}
