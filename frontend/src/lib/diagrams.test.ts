import { describe, expect, test } from "vitest";
import { picture, tame } from "./diagrams";

// O-DESK-03
describe("a diagram can do nothing", () => {
  test.each([
    'graph TD; A["<img src=x onerror=alert(1)>"]',
    'graph TD; A["<img/src=x/onerror=alert(1)>"]',
    "classDiagram\n class A { <<img src=x onerror=alert(1)>> }",
    'graph TD; A["#lt;img src=x onerror=alert(1)#gt;"]',
    'graph TD; A["#60;img src=x onerror=alert(1)>"]',
    'graph TD; A["&#x3c;img src=x onerror=alert(1)>"]',
    '---\ntitle: "\\x3cimg src=x onerror=alert(1)>"\n---\ngraph TD; A',
    '%%{init: {"x": "\\u003cimg src=x onerror=alert(1)>"}}%%\ngraph TD; A',
    "graph TD; A[<svg\nonload=alert(1)>]",
    "graph TD; A[<!--><img src=x onerror=alert(1)>]",
    "graph TD; A[</p><a href=javascript:alert(1)>x</a>]",
  ])("%s", (source) => {
    const box = document.createElement("div");
    // eslint-disable-next-line no-restricted-syntax -- what the library does while it measures
    box.innerHTML = tame(source).replace(/#(\w+);/g, "&$1;");
    for (const element of box.querySelectorAll("*")) expect(element.attributes.length, element.outerHTML).toBe(0);
    expect(tame(source)).not.toMatch(/\\x3c|\\u003c|#lt;|#60;/i);
  });

  test("what diagrams need stays", () => {
    for (const source of ["graph LR; A -- yes --> B; A <--> C; A[a<br/>b]", "classDiagram\n A <|-- B\n class C { <<interface>> }", "flowchart TD; A{a < b} --> B[/x/]"]) expect(tame(source)).toBe(source);
  });

  test("nothing but a drawing passes", async () => {
    const { svg, width, height } = picture('<svg viewBox="0 0 30 20" onload="x()" style="max-width:3px"><script>x()</script><a href="javascript:x()"><text>t</text></a><foreignObject><img src="https://example.org/x"></foreignObject><image href="https://example.org/y"/><rect width="3" onclick="x()"/></svg>');
    expect([width, height]).toEqual([30, 20]);
    const text = await new Promise<string>((done) => {
      const reader = new FileReader();
      reader.onload = () => done(String(reader.result));
      reader.readAsText(svg);
    });
    expect(text).toContain("<rect");
    expect(text).not.toMatch(/script|onload|onclick|href|foreignObject|<image|<img|style=/i);
    expect(() => picture("<p>no</p>")).toThrow();
    expect(() => picture('<svg viewBox="0 0 99999 10"></svg>')).toThrow();
  });
});
