// Formulas in Markdown: $a$ and \(a\) in a line, $$a$$ and \[a\] on lines of their own. They become code
// that the page sets once the typesetter is loaded; until then, and where it fails, their source shows.
import type MarkdownIt from "markdown-it";

/** Longer formulas, in characters, stay source. */
export const formulaMost = 2000;

type Parser = InstanceType<typeof MarkdownIt>;
type Inline = Parameters<Parser["inline"]["ruler"]["push"]>[1];
type Block = Parameters<Parser["block"]["ruler"]["push"]>[1];

/** A sum of money is no formula: what a $ opens ends at one that no space precedes and no digit follows. */
const dollar: Inline = (state, silent) => {
  const { src, pos, posMax } = state;
  if (src.charCodeAt(pos) !== 0x24) return false;
  const twice = src.charCodeAt(pos + 1) === 0x24;
  const from = pos + (twice ? 2 : 1);
  if (from >= posMax || (!twice && /\s/.test(src.charAt(from)))) return false;
  const sign = twice ? "$$" : "$";
  let end = src.indexOf(sign, from);
  while (end > 0 && src.charAt(end - 1) === "\\") end = src.indexOf(sign, end + 1);
  if (end <= from || end > posMax || (!twice && (/\s/.test(src.charAt(end - 1)) || /\d/.test(src.charAt(end + 1))))) return false;
  const tex = src.slice(from, end);
  // "$5, which US$ 6" is money twice, with words between.
  if (!twice && /^\d/.test(tex) && /(?:^|[^\\A-Za-z])[A-Za-z]{2}/.test(tex)) return false;
  return put(state, silent, tex, end + sign.length, twice);
};

const bracket: Inline = (state, silent) => {
  const { src, pos, posMax } = state;
  if (src.charCodeAt(pos) !== 0x5c) return false;
  if (src.charCodeAt(pos + 1) !== 0x28) return false;
  const end = src.indexOf("\\)", pos + 2);
  if (end < 0 || end + 2 > posMax) return false;
  return put(state, silent, src.slice(pos + 2, end), end + 2, false);
};

function put(state: Parameters<Inline>[0], silent: boolean, tex: string, next: number, display: boolean): boolean {
  if (tex.trim() === "" || tex.length > formulaMost) return false;
  if (!silent) {
    const token = state.push("formula", "code", 0);
    token.content = tex;
    token.info = display ? "display" : "";
  }
  state.pos = next;
  return true;
}

const block: Block = (state, from, to, silent) => {
  const line = (n: number) => state.src.slice((state.bMarks[n] ?? 0) + (state.tShift[n] ?? 0), state.eMarks[n] ?? 0);
  const first = line(from);
  const [open, close] = first.startsWith("$$") ? ["$$", "$$"] : first.startsWith("\\[") ? ["\\[", "\\]"] : ["", ""];
  if (open === "" || (state.sCount[from] ?? 0) - state.blkIndent >= 4) return false;
  const inOne = first.slice(2).trimEnd();
  let next = from;
  const short = inOne.endsWith(close) && inOne.length > 2;
  let tex = short ? inOne.slice(0, -2) : inOne;
  if (!short) {
    if (inOne.includes(close)) return false;
    for (next = from + 1; next < to; next++) {
      const here = line(next).trimEnd();
      if (here === "") return false; // an empty line ends no formula: the sign was meant as itself
      tex += `\n${here.endsWith(close) ? here.slice(0, -2) : here}`;
      if (here.endsWith(close)) break;
    }
    if (next >= to) return false;
  }
  if (tex.trim() === "" || tex.length > formulaMost) return false;
  if (silent) return true;
  state.line = next + 1;
  state.push("paragraph_open", "p", 1).map = [from, next + 1];
  const token = state.push("formula", "code", 0);
  token.content = tex;
  token.info = "display";
  state.push("paragraph_close", "p", -1);
  return true;
};

/** Adds the rules to a Markdown parser. */
export function withFormulas(md: Parser): void {
  md.inline.ruler.before("escape", "formula_bracket", bracket);
  md.inline.ruler.after("escape", "formula_dollar", dollar);
  md.block.ruler.before("paragraph", "formula", block, { alt: ["paragraph", "reference", "blockquote", "list"] });
  md.renderer.rules["formula"] = (tokens, index) => {
    const token = tokens[index];
    return `<code class="${token?.info ? "formula display" : "formula"}">${md.utils.escapeHtml(token?.content ?? "")}</code>`;
  };
}
