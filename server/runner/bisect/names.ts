import { createHash } from "node:crypto";
import { withoutRunFacts } from "@/server/domain/agent/prompt";
import { canonicalJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";

/** Fields with ids of calls and files: random in each run, whatever they refer to. */
const NAMING: ReadonlySet<string> = new Set(["tool_call_id", "artifact_id"]);
const SHORTEST = 4;

/** What only times a call, and what only the model that wrote it can read. */
const NOISE: ReadonlySet<string> = new Set(["latency_ms", "ttft_ms", "carried", "reused"]);

/** The names that runs made up in what they were answered. */
export function madeUpNames(values: Iterable<Json>): Set<string> {
  const names = new Set<string>();
  const visit = (value: Json, inCalls: boolean): void => {
    if (value === null || typeof value !== "object") return;
    for (const [key, part] of Array.isArray(value)
      ? value.map((one) => ["", one] as const)
      : Object.entries(value)) {
      if (part === undefined) continue;
      const isName = NAMING.has(key) || (inCalls && key === "id");
      if (isName && typeof part === "string" && part.length >= SHORTEST) names.add(part);
      visit(part, key === "tool_calls" || (inCalls && key === ""));
    }
  };
  for (const value of values) visit(value, false);
  return names;
}

/** Texts of values that are the same for runs which differ in nothing but the names that they made up. */
export function newNamelessText(names: ReadonlySet<string>): (value: Json) => string {
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  const any =
    longestFirst.length === 0
      ? null
      : new RegExp(longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "g");
  return (value) => {
    const text = withoutRunFacts(canonicalJson(withoutNoise(value)));
    if (!any) return text;
    const places = new Map<string, number>();
    return text.replace(any, (name) => {
      const place = places.get(name) ?? places.size + 1;
      places.set(name, place);
      return `name~${place}`;
    });
  };
}

function withoutNoise(value: Json): Json {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(withoutNoise);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) =>
      part === undefined || NOISE.has(key) ? [] : [[key, withoutNoise(part)]],
    ),
  );
}

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
