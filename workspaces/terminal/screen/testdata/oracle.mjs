// Tells what xterm.js makes of what terminals are sent. It reads one case per line, {cols, rows, data,
// resize?, then?}, with data in base64, and prints one description per line.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2] + "/package.json"));
const { Terminal } = require("@xterm/headless");
const ts = require("typescript");

/** Loads a module of the page that imports nothing but its table. */
async function pageModule(name) {
  const folder = process.argv[2] + "/src/features/terminals/";
  const source = (readFileSync(folder + "unicode.gen.ts", "utf8") + readFileSync(folder + name, "utf8")).replace(/^import .*$/m, "");
  const { outputText } = ts.transpileModule(source, { compilerOptions: { module: "esnext", target: "es2022" } });
  return import("data:text/javascript," + encodeURIComponent(outputText));
}
const { widthProvider } = await pageModule("unicode.ts");

const write = (term, base64) => new Promise((done) => term.write(Buffer.from(base64, "base64"), done));

function looks(cell) {
  const flags = ["isBold", "isDim", "isItalic", "isBlink", "isInverse", "isInvisible", "isStrikethrough", "isOverline", "isUnderline"].map((name) => (cell[name]() ? 1 : 0));
  return [cell.getFgColorMode(), cell.isFgDefault() ? -1 : cell.getFgColor(), cell.getBgColorMode(), cell.isBgDefault() ? -1 : cell.getBgColor(), ...flags].join(",");
}

function describeLine(line, cols) {
  let text = "";
  const runs = [];
  let last = "";
  for (let x = 0; x < cols; x++) {
    const cell = line.getCell(x);
    if (!cell || cell.getWidth() === 0) continue;
    const chars = cell.getChars() || " ";
    const look = looks(cell) + (cell.getWidth() === 2 ? "w" : "");
    if (look !== last) {
      runs.push(`${x}:${look}`);
      last = look;
    }
    text += chars;
  }
  // A line that continues another and is empty can't be told by its text.
  return { text: text.trimEnd(), wrapped: line.isWrapped && (text.trimEnd() !== "" || runs.length > 1), runs: runs.join(" ") };
}

function describe(term) {
  const buffer = (b) => {
    const lines = [];
    for (let y = 0; y < b.length; y++) lines.push(describeLine(b.getLine(y), term.cols));
    // What the first line continued is gone, and full-screen programs place their lines.
    for (const [y, line] of lines.entries()) if (y === 0 || b.type === "alternate") line.wrapped = false;
    return { lines, x: b.cursorX, y: b.cursorY };
  };
  const service = term._core.coreService;
  const active = term._core._bufferService.buffer;
  return {
    type: term.buffer.active.type,
    active: buffer(term.buffer.active),
    normal: term.buffer.active.type === "normal" ? undefined : buffer(term.buffer.normal).lines,
    modes: term.modes,
    hidden: service.isCursorHidden,
    region: [active.scrollTop, active.scrollBottom],
    pen: looks(term._core._inputHandler._curAttrData),
  };
}

for await (const text of createInterface({ input: process.stdin })) {
  const one = JSON.parse(text);
  const term = new Terminal({ cols: one.cols, rows: one.rows, scrollback: 1000, allowProposedApi: true });
  term.unicode.register(widthProvider());
  term.unicode.activeVersion = "carrel";
  await write(term, one.data);
  if (one.resize) {
    term.resize(one.resize[0], one.resize[1]);
    if (one.then) await write(term, one.then);
  }
  console.log(JSON.stringify(describe(term)));
  term.dispose();
}
