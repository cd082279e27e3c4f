import type { Raw } from "@/server/domain/base/lenient-reader";
import type { Work } from "@/server/domain/base/work-budget";
import { json, NO_MESSAGES, type Value, withAnswer } from "./values";

/** The keys of what a workflow is given, and of its variables. */
export interface KeyWorld {
  work: Work;
  inputKey(name: string): string;
  stateKey(name: string): { key: string; schema?: Raw | undefined };
}

/** A part of a value; null where it cannot be told. */
export function partOf(of: Value, key: string, world: KeyWorld): Value | null {
  switch (of.is) {
    case "inputs":
      return { is: "path", key: world.inputKey(key), path: [], schema: { type: "string" } };
    case "state":
      return { is: "path", ...world.stateKey(key), path: [] };
    case "path":
      return { ...of, path: [...of.path, key] };
    case "unknown":
      return { ...of, path: [...of.path, key] };
    case "record":
      return of.fields.get(key) ?? null;
    case "list":
      return of.items[Number(key)] ?? null;
    case "json": {
      const { value } = of;
      if (value === null || typeof value !== "object") return null;
      const inner = Object.entries(value).find(([name]) => name === key)?.[1];
      return inner === undefined ? null : json(inner);
    }
    case "run":
      if (key === "finalOutput" || key === "final_output") return { is: "output", run: of.run };
      if (/^(newItems|new_items|history|output)$/.test(key))
        return {
          is: "messages",
          messages: withAnswer(key === "history" ? of.run.before : NO_MESSAGES, of.run, world.work),
        };
      return null;
    case "output": {
      const { answer } = of.run;
      if ("key" in answer) return { is: "path", key: answer.key, path: [key], schema: answer.schema };
      const part = answer.parts.get(key);
      return part ? { is: "path", key: part.key, path: [], schema: part.schema } : null;
    }
    default:
      return null;
  }
}
