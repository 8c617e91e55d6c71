// A small repository for the picture: real enough that its tests pass.

const before = `  const answer = await send(item);
  if (answer.status !== 200) throw new Error(\`upload failed: \${answer.status}\`);
  return answer;
`;
const after = `  for (let tried = 1; ; tried++) {
    const answer = await send(item);
    if (answer.status === 200) return answer;
    if (!busy.has(answer.status) || tried === most) throw new Error(\`upload failed: \${answer.status}\`);
    // Exponential backoff with full jitter: clients that failed together do not come back together.
    await sleep(Math.random() * first * 2 ** (tried - 1));
  }
`;
const head = `// Sends an item to the store.
export async function upload(item, { send }) {
`;

export const files: Record<string, string> = {
  "package.json": '{ "name": "harbor", "type": "module" }\n',
  "README.md": "# Harbor\n\nUploads in the background.\n\nA failed upload is reported at once.\n",
  "src/upload.js": `${head}${before}}\n`,
  "src/config.js": "export const config = {};\n",
  "src/queue.js": 'import { upload } from "./upload.js";\n\nexport const drain = async (items, net) => {\n  for (const item of items) await upload(item, net);\n};\n',
};

export const moreFiles: Record<string, string> = { "pool.js": "export class Pool {}\n", "README.md": "# Tidepool\n" };

export const change = {
  old_string: `${head}${before}`,
  new_string: `/** Answers of a store that is busy for a moment. */
const busy = new Set([429, 503]);
/** Tries of one upload, and the longest first wait in milliseconds. */
const most = 5;
const first = 200;
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// Sends an item to the store.
export async function upload(item, { send, sleep = wait }) {
${after}`,
};

export const tests = `import assert from "node:assert/strict";
import { test } from "node:test";
import { upload } from "../src/upload.js";

const store = (...statuses) => ({ send: async () => ({ status: statuses.shift() }), sleep: async () => {} });

test("a busy store is tried again", async () => {
  assert.equal((await upload("a", store(503, 429, 200))).status, 200);
});

test("after five tries it fails", async () => {
  await assert.rejects(upload("a", store(503, 503, 503, 503, 503)), /503/);
});

test("any other answer fails at once", async () => {
  await assert.rejects(upload("a", store(404, 200)), /404/);
});
`;

export const readme = { old_string: "A failed upload is reported at once.", new_string: "An upload that meets a busy store is tried up to five times." };
