// How tool calls read as one line. A tool that is not known here shows its name and its input.
import Globe from "@lucide/svelte/icons/globe";
import FileText from "@lucide/svelte/icons/file-text";
import ListTodo from "@lucide/svelte/icons/list-todo";
import PencilLine from "@lucide/svelte/icons/pencil-line";
import SquareTerminal from "@lucide/svelte/icons/square-terminal";
import Wrench from "@lucide/svelte/icons/wrench";
import type { Component } from "svelte";
import type { ToolEntry } from "../../host/host";
import { Ansi } from "../../lib/ansi";
import { count, duration, visible } from "../../lib/format";

export type ToolShape = "read" | "edit" | "run" | "todo" | "search" | "other";

export interface ToolLine {
  shape: ToolShape;
  verb: string;
  icon: Component;
  /** What it is about: a path, a command. */
  subject: string;
}

const known: Record<string, { shape: ToolShape; verb: string; field: string; icon: Component }> = {
  bash: { shape: "run", verb: "Run", field: "script", icon: SquareTerminal },
  file_read: { shape: "read", verb: "Read", field: "path", icon: FileText },
  file_edit_replace_string: { shape: "edit", verb: "Edit", field: "path", icon: PencilLine },
  file_edit_replace_lines: { shape: "edit", verb: "Edit", field: "path", icon: PencilLine },
  file_edit_insert: { shape: "edit", verb: "Edit", field: "path", icon: PencilLine },
  web_search: { shape: "search", verb: "Search the web", field: "query", icon: Globe },
  todo_write: { shape: "todo", verb: "Plan", field: "", icon: ListTodo },
};

/** The string value of a field, also from JSON that is still being written. */
export function inputField(input: string, field: string): string {
  try {
    const parsed: unknown = JSON.parse(input);
    if (typeof parsed === "object" && parsed !== null && field in parsed) {
      const value = (parsed as Record<string, unknown>)[field];
      return typeof value === "string" ? value : "";
    }
    return "";
  } catch {
    const start = new RegExp(`"${field}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`).exec(input)?.[1] ?? "";
    try {
      return JSON.parse(`"${start}"`) as string;
    } catch {
      return start;
    }
  }
}

/** The call in one line. */
export function describe(tool: ToolEntry, pages = 0): ToolLine {
  const how = known[tool.name];
  if (!how) return { shape: "other", verb: tool.name, icon: Wrench, subject: firstLine(tool.input === "{}" ? "" : tool.input) };
  // A provider's own search comes as the words that it looked for, then the pages that it found.
  if (how.shape === "search" && tool.input === "" && pages > 0) return { ...how, verb: "Found", subject: count(pages, "page") };
  if (how.shape === "search" && !tool.input.trimStart().startsWith("{")) return { ...how, subject: firstLine(tool.input) };
  if (how.shape === "todo") return { ...how, subject: todoSubject(tool) };
  const value = inputField(tool.input, how.field) || (how.field === "path" ? inputField(tool.input, "file_path") : "");
  return { ...how, subject: firstLine(value) };
}

function firstLine(text: string): string {
  const trimmed = text.trim();
  const end = trimmed.indexOf("\n");
  return visible(end < 0 ? trimmed : `${trimmed.slice(0, end)} …`);
}

function todoSubject(tool: ToolEntry): string {
  return tool.detail?.todos?.find((todo) => todo.status === "in_progress")?.content ?? "";
}

/** What came of it, at the end of the line. */
export function outcome(tool: ToolEntry, shape: ToolShape): string {
  const detail = tool.detail;
  if (tool.status === "interrupted") return "interrupted";
  if (shape === "run" && detail) {
    const time = detail.durationMs ? ` · ${duration(detail.durationMs)}` : "";
    if (detail.timedOut) return `timed out${time}`;
    if (detail.exitCode !== undefined && detail.exitCode !== 0) return `exit ${detail.exitCode}${time}`;
    if (tool.status === "ok") return `done${time}`;
  }
  if (tool.status === "failed") return "failed";
  if (shape === "read" && detail?.firstLine) return `${detail.firstLine}–${detail.lastLine ?? detail.firstLine}${detail.totalLines && detail.lastLine !== detail.totalLines ? ` of ${detail.totalLines}` : ""}`;
  if (shape === "todo" && detail?.todos) return `${detail.todos.filter((todo) => todo.status === "completed").length} of ${detail.todos.length}`;
  return "";
}

/** Whether a row shows its inside before the person chose: edits and failures do. */
export function opensByItself(tool: ToolEntry, shape: ToolShape): boolean {
  if (tool.status === "failed") return true;
  if (shape === "run" && tool.status === "ok" && (tool.detail?.exitCode ?? 0) !== 0) return true;
  return shape === "edit" && tool.status === "ok" && !!tool.detail?.diff;
}

/** The last line that has something on it. */
export function lastLine(output: string): string {
  const lines = new Ansi().update(output.slice(-2000).trimEnd());
  return (lines.at(-1)?.spans ?? []).map((span) => span.text).join("");
}

/** The object or list that a text is, or undefined. */
export function parsed(text: string): object | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
