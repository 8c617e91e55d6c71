import { describe, expect, test } from "vitest";
import { inCode, openSymbol, symbols, symbolsFor, typedSymbol } from "./symbols";

/** What the box says when a text is typed into it. */
function type(text: string): string {
  let written = "";
  for (const character of text) {
    written += character;
    const change = typedSymbol(written);
    if (change) written = written.slice(0, change.from) + change.by + written.slice(change.to);
  }
  return written;
}

describe("a symbol", () => {
  test("stands at once for a name that is whole", () => {
    expect(type("\\alpha")).toBe("α");
    expect(type("\\Alpha\\euro")).toBe("Α€");
    expect(type("x \\leq y")).toBe("x ≤ y");
    expect(type("2\\pi")).toBe("2π");
    expect(type("\\subseteq")).toBe("⊆");
  });

  test("waits where another name begins so, until a space or a sign follows", () => {
    expect(type("\\in")).toBe("\\in");
    expect(type("\\in ")).toBe("∈ ");
    expect(type("\\in, \\R)")).toBe("∈, ℝ)");
    expect(type("\\infty")).toBe("∞");
    expect(type("\\int ")).toBe("∫ ");
    expect(type("\\in2")).toBe("\\in2");
    expect(type("\\subset\\subseteq")).toBe("⊂⊆");
  });

  test("is not made of a name behind two backslashes, of which one goes", () => {
    expect(type("\\\\alpha")).toBe("\\alpha");
    expect(type("\\\\alpha, ")).toBe("\\alpha, ");
    expect(type("\\\\in ")).toBe("\\in ");
    expect(type("\\\\\\alpha")).toBe("\\\\α");
    expect(type("\\\\")).toBe("\\\\");
    expect(type("C:\\\\new")).toBe("C:\\\\new");
  });

  test("is not made inside code", () => {
    expect(type("`\\alpha")).toBe("`\\alpha");
    expect(type("`\\alpha` \\alpha")).toBe("`\\alpha` α");
    expect(type("``a ` \\alpha`` \\alpha")).toBe("``a ` \\alpha`` α");
    expect(type("```tex\n\\alpha\n```\n\\alpha")).toBe("```tex\n\\alpha\n```\nα");
    expect(type("~~~\n\\in \n")).toBe("~~~\n\\in \n");
    expect(type("a ` b\n\\alpha")).toBe("a ` b\nα");
  });

  test("minds the case of its name", () => {
    expect(type("\\ALPHA \\Sigma\\sigma")).toBe("\\ALPHA Σσ");
  });
});

describe("the menu", () => {
  test("lists what begins so, and a whole name first", () => {
    expect(symbolsFor("in").map(([name]) => name)).toEqual(["in", "infty", "int"]);
    expect(symbolsFor("int").map(([name]) => name)).toEqual(["int"]);
    expect(symbolsFor("").length).toBe(symbols.length);
    expect(symbolsFor("In")).toEqual([]);
  });

  test("opens behind one backslash, outside code", () => {
    expect(openSymbol("a \\")).toEqual({ from: 2, name: "", escaped: false });
    expect(openSymbol("a \\al")?.name).toBe("al");
    expect(openSymbol("a \\\\")).toBeUndefined();
    expect(openSymbol("`\\al")).toBeUndefined();
    expect(openSymbol("al")).toBeUndefined();
  });
});

test("names are known once, and every promised one is", () => {
  expect(new Set(symbols.map(([name]) => name)).size).toBe(symbols.length);
  const promised = "alpha beta pi Sigma Omega times div pm neq leq geq approx equiv infty sqrt degree in notin subset subseteq cup cap emptyset forall exists R Z N land lor neg implies iff therefore to gets leftrightarrow Rightarrow uparrow downarrow mapsto euro pound yen cent bitcoin permille bps trademark sum prod int oint bigcup bigcap";
  const names = new Map(symbols);
  for (const name of promised.split(" ")) expect(names.get(name), name).toBeTruthy();
  for (const [name, symbol] of symbols) expect([...symbol].length, name).toBe(1);
});

test("code is told from text in long ones", () => {
  const text = `${"word `span` ".repeat(20_000)}\\alpha`;
  expect(inCode(text, text.length - 6)).toBe(false);
  expect(typedSymbol(text)?.by).toBe("α");
});
