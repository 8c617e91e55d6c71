// Markdown in pieces. Text that streams in is cut into blocks; finished blocks are never parsed or
// drawn again, so that a long answer costs as much per frame as a short one.
import MarkdownIt from "markdown-it";
import { safeAddress } from "../host/host";
import { withDetails } from "./mddetails";
import { withFormulas } from "./mdmath";

/**
 * A piece of a document: code, a fold, or anything else as HTML that was not sanitised. Code is open while its
 * end may not have come.
 */
export type Block =
  | { kind: "code"; language: string; text: string; open: boolean }
  | { kind: "details"; summary: string; text: string }
  | { kind: "text"; html: string; formulas: boolean };

const md = new MarkdownIt({ html: false, linkify: true, breaks: false });

type Token = ReturnType<typeof md.parse>[number];
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
withFormulas(md);
withDetails(md);
md.validateLink = (address) => safeAddress(address) !== undefined;
// An image would be fetched from anywhere; it is shown as a link to it.
md.renderer.rules.image = (tokens, index, _options, _env) => {
  const token = tokens[index];
  const address = String(token?.attrGet("src") ?? "");
  const label = token?.content || address;
  return `<a href="${md.utils.escapeHtml(address)}">${md.utils.escapeHtml(label)}</a>`;
};

// A wide table scrolls by itself, so the keyboard must reach it.
md.renderer.rules["table_open"] = () => '<div class="table" tabindex="0"><table>';
md.renderer.rules["table_close"] = () => "</table></div>";

// Styles don't pass the sanitiser, so how a column is aligned is said by its attribute.
for (const name of ["th_open", "td_open"]) {
  md.renderer.rules[name] = (tokens, index) => {
    const side = /^text-align:(center|right)$/.exec(String(tokens[index]?.attrGet("style") ?? ""))?.[1];
    return `<${tokens[index]?.tag}${side ? ` align="${side}"` : ""}>`;
  };
}

/** Longer texts, in characters, are shown as they are: drawing them would freeze the page for seconds. */
const plainFrom = 400_000;
/** A block that grows beyond this is drawn anew only when that took little of the time since the last one. */
const largeTail = 16_000;
const share = 5;

/** Cuts a document that grows at its end. */
export class Blocks {
  #text = "";
  #done: Block[] = [];
  #tail = "";
  #env: Record<string, unknown> = {};
  #shown: Block[] = [];
  #drawn = { at: 0, took: 0 };

  /** The blocks of the text. The blocks before the last few are the same objects as last time. */
  update(text: string, live: boolean): Block[] {
    if (text.length > plainFrom) return [{ kind: "code", language: "", text, open: live }];
    const now = performance.now();
    const large = live && this.#tail.length > largeTail && text.startsWith(this.#text);
    if (large && now - this.#drawn.at < Math.min(1000, share * this.#drawn.took)) return this.#shown;
    this.#shown = this.#draw(text, live);
    const end = performance.now();
    this.#drawn = { at: end, took: end - now };
    return this.#shown;
  }

  #draw(text: string, live: boolean): Block[] {
    if (!live || !text.startsWith(this.#text)) return this.#whole(text);
    this.#tail += text.slice(this.#text.length);
    this.#text = text;
    const lines = this.#tail.split("\n");
    const complete = lines.length - 1;
    const groups = topLevel(md.parse(this.#tail, this.#env));
    let cut = 0;
    for (let i = 0; i + 1 < groups.length; i++) {
      const next = groups[i + 1];
      const group = groups[i];
      // A line that is still being written may yet join the block before it.
      if (!next || !group || next.line >= complete) break;
      this.#done.push(this.#block(group.tokens));
      cut = i + 1;
    }
    const rest = groups.slice(cut);
    if (cut > 0) this.#tail = lines.slice(rest[0]?.line ?? complete).join("\n");
    return [...this.#done, ...rest.map((group, index) => this.#block(group.tokens, index === rest.length - 1))];
  }

  #whole(text: string): Block[] {
    this.#text = text;
    this.#tail = text;
    this.#done = [];
    this.#env = {};
    return topLevel(md.parse(text, this.#env)).map((group) => this.#block(group.tokens));
  }

  #block(tokens: Token[], open = false): Block {
    const first = tokens[0];
    if (first && tokens.length === 1 && (first.type === "fence" || first.type === "code_block")) {
      return { kind: "code", language: first.info.trim().split(/\s+/)[0] ?? "", text: first.content.replace(/\n$/, ""), open };
    }
    if (first?.type === "details_open") return { kind: "details", summary: md.renderInline(first.info || "Details", this.#env), text: first.content };
    return { kind: "text", html: md.renderer.render(tokens, md.options, this.#env), formulas: tokens.some(hasFormula) };
  }
}

const hasFormula = (token: Token): boolean => token.type === "formula" || (token.children?.some(hasFormula) ?? false);

function topLevel(tokens: Token[]): { line: number; tokens: Token[] }[] {
  const groups: { line: number; tokens: Token[] }[] = [];
  let current: Token[] = [];
  for (const token of tokens) {
    current.push(token);
    if (token.level === 0 && token.nesting <= 0) {
      groups.push({ line: current[0]?.map?.[0] ?? 0, tokens: current });
      current = [];
    }
  }
  return groups;
}
