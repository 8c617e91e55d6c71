// The gate between untrusted text and the page: whatever Markdown made, only this much passes.
import DOMPurify from "dompurify";
import { safeAddress } from "../host/host";

const tags = ["a", "b", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "li", "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"];

const purify = DOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
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
    ALLOWED_ATTR: ["href", "start"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}
