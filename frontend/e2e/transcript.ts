// Writes a long conversation in the format of the log, as a year of work would have left it.
import { open, rm } from "node:fs/promises";
import { join } from "node:path";

/** How the messages of turn n begin. */
export const question = (n: number) => `Question ${n}:`;
export const answer = (n: number) => `Answer ${n}.`;

/** Writes turns of one question and one answer each. No Carrel may run on the session. */
export async function writeTurns(session: string, turns: number): Promise<void> {
  for (const file of ["index", "fold"]) await rm(join(session, file), { force: true });
  const log = await open(join(session, "transcript.jsonl"), "w", 0o600);
  const began = Date.parse("2026-01-01T09:00:00Z");
  let seq = 0;
  let lines: string[] = [];
  for (let n = 1; n <= turns; n++) {
    const turn = `t${String(n).padStart(11, "0")}`;
    const time = new Date(began + n * 60_000).toISOString();
    const add = (record: object) => lines.push(JSON.stringify({ seq: ++seq, time, turn, ...record }));
    add({ kind: "user", messageId: `m${n}`, message: { role: "user", parts: [{ kind: "text", text: `${question(n)} what about part ${n % 97}?` }] } });
    add({ kind: "turn_start", model: "demo:demo" });
    add({ kind: "step_start", step: 1 });
    const stepSeq = seq;
    add({ kind: "assistant", step: 1, stepSeq, message: { role: "assistant", stop: "end", model: "demo:demo", parts: [{ kind: "text", text: `${answer(n)} It has ${n % 7} sides.${"\n\nAnother line of it.".repeat(n % 5)}` }] } });
    add({ kind: "turn_end", end: "done" });
    if (lines.length < 5000 && n < turns) continue;
    await log.write(`${lines.join("\n")}\n`);
    lines = [];
  }
  await log.close();
}
