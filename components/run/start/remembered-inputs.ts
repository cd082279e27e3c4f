import { isObject } from "@/server/domain/base/guards";
import { isSameJson } from "@/server/domain/base/json";
import type { JsonObject } from "@/server/domain/base/values";

/** An input that a workflow was run with from this browser. */
export interface RememberedInput {
  at: number;
  input: JsonObject;
}

const KEPT = 10;
const keyOf = (workflowId: string) => `troupe.inputs.${workflowId}`;

/** The inputs of earlier runs from this browser, newest first. */
export function rememberedInputs(workflowId: string): RememberedInput[] {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(keyOf(workflowId)) ?? "[]");
    return Array.isArray(saved) ? saved.filter(isRemembered).slice(0, KEPT) : [];
  } catch {
    return [];
  }
}

/** Keeps an input; the same one again only moves to the front. */
export function rememberInput(workflowId: string, input: JsonObject, at: number): void {
  const others = rememberedInputs(workflowId).filter((known) => !isSameJson(known.input, input));
  try {
    localStorage.setItem(keyOf(workflowId), JSON.stringify([{ at, input }, ...others].slice(0, KEPT)));
  } catch {
    // A full or forbidden storage only costs the convenience.
  }
}

/** A short text for an input. */
export function summarizeInput(input: JsonObject): string {
  const parts = Object.values(input).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value),
  );
  const summary = parts.join(" · ").replace(/\s+/g, " ").trim();
  return summary.length > 90 ? `${summary.slice(0, 89)}…` : summary || "Nothing";
}

function isRemembered(value: unknown): value is RememberedInput {
  return isObject(value) && typeof value.at === "number" && isObject(value.input);
}
