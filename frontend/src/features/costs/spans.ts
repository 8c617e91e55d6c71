// The times and groups that costs are shown for.
import type { CostsBy } from "../../host/host";

export const groups: { value: CostsBy; label: string }[] = [
  { value: "workspace", label: "Workspace" },
  { value: "project", label: "Project" },
  { value: "model", label: "Model" },
  { value: "day", label: "Day" },
];

export const spans = [
  { value: "today", label: "Today" },
  { value: "week", label: "Last 7 days" },
  { value: "month", label: "Last 30 days" },
  { value: "all", label: "All time" },
];

/** When a span begins, as the core wants it; undefined for all time. Days begin at the person's midnight. */
export function startOf(span: string, now: Date): string | undefined {
  const back = { today: 0, week: 6, month: 29 }[span];
  if (back === undefined) return undefined;
  const start = new Date(now.getFullYear(), now.getMonth(), now.getDate() - back);
  return start.toISOString();
}

/** A budget as it was typed, in dollars; undefined for what is none. */
export function readBudget(text: string): number | undefined {
  const plain = text.trim().replace(/^\$\s*/, "").replace(",", ".");
  if (!/^\d{1,7}(\.\d{1,4})?$/.test(plain)) return undefined;
  return Number(plain);
}
