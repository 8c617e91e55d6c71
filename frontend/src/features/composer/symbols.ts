// Symbols by their names, as LaTeX writes them: \alpha is α.

/** Name and symbol, in the order in which the menu lists them. */
export const symbols: readonly (readonly [name: string, symbol: string])[] = read(`
  alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ omicron ο pi π rho ρ sigma σ tau τ
  upsilon υ phi φ chi χ psi ψ omega ω varepsilon ϵ vartheta ϑ varphi ϕ varrho ϱ varsigma ς
  Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ
  Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω
  times × div ÷ pm ± mp ∓ cdot ⋅ ast ∗ neq ≠ leq ≤ geq ≥ ll ≪ gg ≫ approx ≈ equiv ≡ sim ∼ simeq ≃ cong ≅ propto ∝ infty ∞ sqrt √ cbrt ∛
  degree ° prime ′ partial ∂ nabla ∇ perp ⊥ parallel ∥ angle ∠ oplus ⊕ otimes ⊗
  in ∈ notin ∉ ni ∋ subset ⊂ supset ⊃ subseteq ⊆ supseteq ⊇ cup ∪ cap ∩ setminus ∖ emptyset ∅ forall ∀ exists ∃ nexists ∄
  R ℝ Z ℤ N ℕ Q ℚ C ℂ aleph ℵ
  land ∧ lor ∨ neg ¬ implies ⟹ iff ⟺ therefore ∴ because ∵ top ⊤ bot ⊥ vdash ⊢ models ⊨
  to → gets ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ uparrow ↑ downarrow ↓ rightarrow → leftarrow ← mapsto ↦ updownarrow ↕
  euro € pound £ yen ¥ cent ¢ bitcoin ₿ permille ‰ bps ‱ trademark ™ copyright © registered ® section § bullet • ldots … checkmark ✓
  sum ∑ prod ∏ int ∫ oint ∮ bigcup ⋃ bigcap ⋂
`);

function read(text: string): [string, string][] {
  const words = text.trim().split(/\s+/);
  return words.flatMap((name, index) => (index % 2 === 0 ? [[name, words[index + 1] ?? ""] as [string, string]] : []));
}

const byName = new Map(symbols);

/** Names that another name begins with: only a Tab, an Enter or what follows says that they are whole. */
const open = new Set(symbols.map(([name]) => name).filter((name) => symbols.some(([other]) => other !== name && other.startsWith(name))));

/** A part of a text that becomes another one. */
export interface Replacement {
  from: number;
  to: number;
  by: string;
}

/**
 * What becomes of a text up to the cursor when its last character has just been typed. A name that is whole
 * becomes its symbol; one behind two backslashes loses one of them and stays. Undefined when nothing does.
 */
export function typedSymbol(text: string): Replacement | undefined {
  const last = text.at(-1) ?? "";
  const letter = /[A-Za-z]/.test(last);
  if (!letter && !/[\s\p{P}\p{S}]/u.test(last)) return undefined;
  const to = letter ? text.length : text.length - last.length;
  const found = nameBefore(text, to);
  if (!found || open.has(found.name) === letter) return undefined;
  const symbol = byName.get(found.name);
  if (symbol === undefined || inCode(text, found.from)) return undefined;
  return found.escaped ? { from: found.from, to: found.from + 1, by: "" } : { from: found.from, to, by: symbol };
}

/** The name, perhaps still empty, that is being written at the end of a text, for the menu. */
export function openSymbol(text: string): { from: number; name: string } | undefined {
  const found = nameBefore(text, text.length);
  return !found || found.escaped || inCode(text, found.from) ? undefined : found;
}

/** What the menu lists: names that begin so, a whole one first. */
export function symbolsFor(name: string): (readonly [name: string, symbol: string])[] {
  return symbols.filter(([one]) => one.startsWith(name)).sort(([a], [b]) => Number(b === name) - Number(a === name));
}

/** The longest that a name is, with some backslashes. */
const reach = 64;

function nameBefore(text: string, to: number): { from: number; name: string; escaped: boolean } | undefined {
  const near = text.slice(Math.max(0, to - reach), to);
  const match = /(\\+)([A-Za-z]*)$/.exec(near);
  if (!match) return undefined;
  const [, slashes = "", name = ""] = match;
  return { from: to - name.length - 1, name, escaped: slashes.length % 2 === 0 };
}

/** Whether a place is inside a fenced block, or a code span, which may still be open on its line. */
export function inCode(text: string, at: number): boolean {
  const lines = text.split("\n");
  let from = 0;
  let fence = "";
  let paragraph = 0;
  for (const line of lines) {
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
    const end = from + line.length;
    if (fence !== "") {
      if (at <= end) return true;
      if (mark && mark[1]?.startsWith(fence) && mark[2]?.trim() === "") fence = "";
      paragraph = end + 1;
    } else if (mark && !(mark[1]?.startsWith("`") && mark[2]?.includes("`"))) {
      if (at <= end) return true; // what stands behind a fence names a language
      fence = mark[1] ?? "";
    } else if (line.trim() === "") paragraph = end + 1;
    if (at <= end) return inSpan(text.slice(paragraph), at - paragraph);
    from = end + 1;
  }
  return false;
}

/** The same for a code span in a paragraph that begins with the text. */
function inSpan(text: string, at: number): boolean {
  const blank = /\n[ \t]*\n/g;
  blank.lastIndex = at;
  const paragraph = text.slice(0, blank.exec(text)?.index ?? text.length);
  const runs = [...paragraph.matchAll(/`+/g)];
  /** The next run of the same length, of each. */
  const partner: (number | undefined)[] = [];
  const latest = new Map<number, number>();
  for (let i = runs.length - 1; i >= 0; i--) {
    const length = runs[i]?.[0].length ?? 0;
    partner[i] = latest.get(length);
    latest.set(length, i);
  }
  for (let i = 0; i < runs.length; i++) {
    const opening = runs[i];
    if (!opening || opening.index >= at) return false;
    const next = partner[i];
    const closing = next === undefined ? undefined : runs[next];
    if (closing && next !== undefined) {
      if (at < closing.index) return true;
      i = next;
    } else if (!paragraph.slice(opening.index, at).includes("\n")) return true;
  }
  return false;
}
