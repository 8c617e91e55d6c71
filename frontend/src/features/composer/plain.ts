// The plain box, until the editor is there, and where it can't be loaded.
import type { Box, BoxListener } from "./box";

/** Makes a box of a textarea. */
export function plainBox(area: HTMLTextAreaElement, listener: BoxListener): Box {
  const off = new AbortController();
  const on = { signal: off.signal };
  const told = () => listener.cursor(area.selectionStart === area.selectionEnd ? area.selectionStart : undefined);
  /** It grows with its text up to a third of the window. Empty it is one line, whatever its placeholder wraps to. */
  const fit = () => {
    area.style.height = "auto";
    if (area.value !== "") area.style.height = `${Math.min(area.scrollHeight, innerHeight / 3)}px`;
  };
  area.addEventListener("input", () => {
    fit();
    listener.text(area.value);
    told();
  }, on);
  area.addEventListener("keydown", (event) => listener.key(event) && event.preventDefault(), on);
  area.addEventListener("paste", (event) => listener.paste(event) && event.preventDefault(), on);
  area.addEventListener("blur", () => listener.blur(), on);
  area.ownerDocument.addEventListener("selectionchange", () => area.ownerDocument.activeElement === area && told(), on);
  return {
    get text() {
      return area.value;
    },
    write(text, at = text.length) {
      if (area.value === text) return;
      area.value = text;
      area.setSelectionRange(at, at);
      fit();
    },
    replace(from, to, by) {
      area.setRangeText(by, from, to, "end");
      fit();
      listener.text(area.value);
      told();
    },
    selection: () => ({ from: area.selectionStart, to: area.selectionEnd }),
    select: (from, to) => area.setSelectionRange(from, to),
    focus: () => area.focus({ preventScroll: true }),
    focused: () => area.ownerDocument.activeElement === area,
    look(look) {
      area.placeholder = look.placeholder;
      area.disabled = look.disabled;
      for (const name of ["aria-controls", "aria-activedescendant"]) area.removeAttribute(name);
      for (const [name, value] of Object.entries(look.attributes)) area.setAttribute(name, value);
    },
    restart: () => undefined,
    destroy: () => off.abort(),
  };
}
