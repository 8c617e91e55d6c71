import { describe, expect, test } from "vitest";
import { Blocks, type Block } from "./markdown";
import { sanitise } from "./sanitise";

const show = (blocks: Block[]) => blocks.map((block) => (block.kind === "code" ? `<pre ${block.language}>${block.text}</pre>` : block.kind === "details" ? `<fold ${sanitise(block.summary)}>${render(block.text)}</fold>` : sanitise(block.html))).join("");
const render = (text: string): string => show(new Blocks().update(text, false));

const attacks = [
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)><script>alert(1)</script></svg>",
  "<svg/onload=alert(1)>",
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java&#10;script:alert(1))",
  "[x](vbscript:x)",
  "[x](file:///etc/passwd)",
  "![x](file:///etc/passwd)",
  "![x](https://example.org/pixel.png)",
  '<a href="data:text/html,<script>alert(1)</script>">x</a>',
  "[x](data:text/html;base64,PHNjcmlwdD4=)",
  '[x](https://example.org "onmouseover=alert(1)")',
  "<style>*{display:none}</style>",
  '<form action="https://example.org"><input name=a></form>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  "`<img src=x onerror=alert(1)>`",
  "```html\n<script>alert(1)</script>\n```",
  "| a |\n| - |\n| <img src=x onerror=alert(1)> |",
  "<https://example.org/?\"onclick=alert(1)>",
  "[ref]\n\n[ref]: javascript:alert(1)",
  "$\\href{javascript:alert(1)}{x}$ and $<img src=x onerror=alert(1)>$",
  "$$\n\\htmlClass{x}{<script>alert(1)</script>}\n$$",
  "<details><summary><img src=x onerror=alert(1)></summary>\n\n<img src=x onerror=alert(1)>\n\n</details>",
  "<details open><summary>[x](javascript:alert(1))</summary>\n<svg onload=alert(1)>",
  "<details onclick=alert(1)>\n\nx\n</details>",
  '<div class="table" tabindex="1" style="position:fixed">x</div>',
];

// O-DESK-03
describe("model text cannot do anything", () => {
  test.each(attacks)("%s", (attack) => {
    for (const text of [attack, `before\n\n${attack}\n\nafter`, `- ${attack}`]) {
      const box = document.createElement("div");
      // Code blocks are drawn as text by their component; the rest is what the page inserts.
      // eslint-disable-next-line no-restricted-syntax -- what the page would do
      box.innerHTML = new Blocks().update(text, false).map((block) => (block.kind === "text" ? sanitise(block.html) : block.kind === "details" ? sanitise(block.summary) + render(block.text).replace(/<pre[^]*?<\/pre>/g, "") : "")).join("");
      expect(box.querySelectorAll("script, style, iframe, svg, math, img, form, input, object, embed, link, meta, base").length).toBe(0);
      for (const element of box.querySelectorAll("*")) {
        for (const { name, value } of element.attributes) {
          expect(["href", "start", "target", "rel", "title", "class", "tabindex", "align"]).toContain(name);
          if (name === "class") expect(["table", "formula", "formula display"]).toContain(value);
          if (name === "href") expect(value).toMatch(/^(https?|mailto):/);
        }
      }
    }
  });

  test("HTML is shown as text", () => {
    expect(render("a <b>bold</b> claim")).toContain("a &lt;b&gt;bold&lt;/b&gt; claim");
  });

  test("raw HTML that reaches the sanitiser loses all but its text and links to the web", () => {
    expect(sanitise('<p style="position:fixed" onclick="x()" data-x="1" id="app">hi<img src=x onerror=y></p>')).toBe("<p>hi</p>");
    expect(sanitise('<a href="javascript:alert(1)">x</a>')).toBe("<a>x</a>");
    expect(sanitise('<a href="/settings">x</a>')).toBe("<a>x</a>");
    expect(sanitise('<a href="mailto:ada@example.org">x</a>')).toContain('href="mailto:ada@example.org"');
  });
});

describe("text that streams in", () => {
  const document_ = [
    "# Title",
    "A paragraph with `code`, **bold** and a [link](https://example.org).\nSecond line.",
    "- one\n- two\n\n  still two\n- three",
    "```go\nfunc main() {\n\n\tprintln(1)\n}\n```",
    "1. first\n2. second",
    "| a | b |\n| - | - |\n| 1 | 2 |",
    "> quoted\n> twice",
    "Setext\n===",
  "Euler has $e^{i\\pi}+1=0$, for \\(x\\), and it costs $5 or $6.",
  "$$\n\\int_0^1 x\\,dx\n$$",
  "<details><summary>More *of* it</summary>\n\n- inside\n\n```sh\nls\n```\n\n</details>",
    "Last words with [a reference][r].",
    "[r]: https://example.org/ref",
  ].join("\n\n");

  test("ends as the same document, however it was cut", () => {
    const whole = render(document_);
    for (const step of [1, 3, 7, 50]) {
      const blocks = new Blocks();
      for (let end = step; end < document_.length; end += step) blocks.update(document_.slice(0, end), true);
      expect(show(blocks.update(document_, true)).replace(/<p>.*reference.*<\/p>/, ""), `step ${step}`).toBe(whole.replace(/<p>.*reference.*<\/p>/, ""));
      expect(show(blocks.update(document_, false))).toBe(whole);
    }
  });

  test("keeps finished blocks as they are", () => {
    const blocks = new Blocks();
    const before = blocks.update("one\n\ntwo\n\nthree\nand", true);
    const after = blocks.update("one\n\ntwo\n\nthree\nand more", true);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(after).toHaveLength(3);
  });

  test("makes a handful of blocks anew per update, however long it is", () => {
    const blocks = new Blocks();
    let text = "";
    let before = new Set<Block>();
    let most = 0;
    for (let i = 0; i < 1500; i++) {
      text += `Paragraph ${i} with some words and \`code\`.\n\n`;
      const shown = blocks.update(text, true);
      most = Math.max(most, shown.filter((block) => !before.has(block)).length);
      before = new Set(shown);
    }
    expect(before.size).toBe(1500);
    expect(most).toBeLessThanOrEqual(3);
  });

  test("does not freeze the page while one large block grows, and ends complete", () => {
    const table = "| a | b |\n| - | - |\n" + "| one | two **bold** |\n".repeat(6000);
    const blocks = new Blocks();
    let drawn = 0;
    let last: Block[] = [];
    const began = performance.now();
    for (let end = 0; end < table.length; end += 100) {
      const shown = blocks.update(table.slice(0, end), true);
      if (shown !== last) drawn++;
      last = shown;
    }
    const took = performance.now() - began;
    expect(drawn).toBeLessThan(table.length / 100 / 2);
    expect(took).toBeLessThan(20_000);
    expect(show(blocks.update(table, false))).toBe(render(table));
  }, 60_000);

  test("shows a giant as plain text", () => {
    const text = "> ".repeat(300_000);
    expect(new Blocks().update(text, false)).toMatchObject([{ kind: "code", language: "", text: expect.toSatisfy((shown: string) => shown === text) as string }]);
  });

  test("tells formulas from money, and folds from other HTML", () => {
    const formulas = (text: string) => [...render(text).matchAll(/<code class="(formula[^"]*)">([^<]*)/g)].map((found) => [found[1], found[2]]);
    expect(formulas("It costs $5 or $6, and US$ 7,$8.")).toEqual([]);
    expect(formulas("Let $x_1$ be \\(y\\); `$no$` and \\$z\\$ are not. $$a$$")).toEqual([["formula", "x_1"], ["formula", "y"], ["formula display", "a"]]);
    expect(formulas("\\[\na\n\\]\n\n$$b$$\n\n$$\n\nnot\n\n$$")).toEqual([["formula display", "\na\n"], ["formula display", "b"]]);
    expect(new Blocks().update("<details>\n<summary>S *x*</summary>\n\na\n\n<details>\n\nb\n\n</details>\n\n</details>\n\nafter", false)).toMatchObject([
      { kind: "details", summary: "S <em>x</em>", text: "\na\n\n<details>\n\nb\n\n</details>\n" },
      { kind: "text", html: "<p>after</p>\n" },
    ]);
    expect(new Blocks().update("<details><summary>S</summary>\n\nhalf", true)).toMatchObject([{ kind: "details", text: "\nhalf" }]);
    expect(render("<details x=y>no</details>")).toContain("&lt;details");
    expect(render("- <details>\n  <summary>in a list</summary>\n\n  x\n  </details>\n")).toContain("<summary>in a list</summary>");
  });

  test("draws an open fence as code at once", () => {
    expect(new Blocks().update("```go\nfunc main", true)).toEqual([{ kind: "code", language: "go", text: "func main", open: true }]);
  });
});
