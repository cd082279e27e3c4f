import { must } from "@/server/domain/base/must";
import type { JsonSchema } from "@/server/domain/base/values";
import type { McpCorrection, McpPin } from "@/server/store/library/mcp-servers";
import { type McpHints, McpToolWord } from "./annotations";
import { fingerprintOf, McpToolDefinition, readable } from "./definition";

export interface McpToolStatus {
  /** As the server calls it. */
  name: string;
  /** As roles and calls name it: `mcp:server/tool`. */
  full_name: string;
  /** Hidden characters are spelled out. */
  description: string;
  input_schema: JsonSchema;
  /** What it says its results look like; null: nothing. */
  output_schema: JsonSchema | null;
  /** approved: may be called. new, changed: needs approval first. gone: approved, but not offered now. */
  state: "approved" | "new" | "changed" | "gone";
  /** What `approve` must name. */
  fingerprint: string;
  /** What the server says of it, for people to see. */
  hints: McpHints;
  /** What the operator's file says of it: that holds, and nothing else can be said here. */
  fixed: McpToolWord | null;
  /** What a person said of it. `holds` is false where the server has changed the tool since. */
  corrected: (McpToolWord & { holds: boolean }) | null;
  /** Where it was changed: what was approved before. */
  approved: Pick<McpToolStatus, "description" | "input_schema" | "output_schema" | "hints"> | null;
}

/** A tool with what its server said exactly. */
export type KnownTool = McpToolStatus & { definition: McpToolDefinition };

/** What a server offers now and what was approved of it, side by side, by name. */
export function knownTools(
  server: string,
  about: {
    definitions: readonly McpToolDefinition[];
    pins: readonly McpPin[];
    corrections: readonly McpCorrection[];
    /** What the operator's file says of single tools, by full names. */
    overrides: Readonly<Record<string, McpToolWord>>;
  },
): KnownTool[] {
  const { definitions, overrides } = about;
  const pins = new Map(about.pins.map((pin) => [pin.tool, pin]));
  const corrections = new Map(about.corrections.map((one) => [one.tool, one]));
  const overridesFor = (tool: string, fingerprint: string): Pick<McpToolStatus, "fixed" | "corrected"> => {
    const full_name = `mcp:${server}/${tool}`;
    const kept = corrections.get(tool);
    const word = kept && wordOf(kept);
    return {
      fixed: Object.hasOwn(overrides, full_name) ? must(overrides, full_name) : null,
      corrected: word ? { ...word, holds: kept.fingerprint === fingerprint } : null,
    };
  };
  const there = definitions.map((definition) => {
    const fingerprint = fingerprintOf(definition);
    const pin = pins.get(definition.name);
    pins.delete(definition.name);
    const state = !pin ? "new" : pin.fingerprint === fingerprint ? "approved" : "changed";
    return {
      ...toStatus(server, definition, { fingerprint, state, pin }),
      ...overridesFor(definition.name, fingerprint),
    };
  });
  const gone = [...pins.values()].flatMap((pin) => {
    const definition = definitionOf(pin);
    if (!definition) return [];
    const status = toStatus(server, definition, { fingerprint: pin.fingerprint, state: "gone", pin });
    return [{ ...status, ...overridesFor(definition.name, pin.fingerprint) }];
  });
  return [...there, ...gone].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toStatus(
  server: string,
  definition: McpToolDefinition,
  {
    fingerprint,
    state,
    pin,
  }: { fingerprint: string; state: McpToolStatus["state"]; pin: McpPin | undefined },
): Omit<KnownTool, "fixed" | "corrected"> {
  const before = state === "changed" && pin ? definitionOf(pin) : null;
  return {
    name: definition.name,
    full_name: `mcp:${server}/${definition.name}`,
    ...reviewablePart(definition),
    state,
    fingerprint,
    approved: before && reviewablePart(before),
    definition,
  };
}

function wordOf({ word }: McpCorrection): McpToolWord | null {
  try {
    return McpToolWord.safeParse(JSON.parse(word)).data ?? null;
  } catch {
    return null;
  }
}

/** What a person reads of a definition before approving it. */
const reviewablePart = ({ description, input_schema, output_schema, hints }: McpToolDefinition) => ({
  description: readable(description),
  input_schema,
  output_schema: output_schema ?? null,
  hints,
});

function definitionOf(pin: McpPin): McpToolDefinition | null {
  try {
    return McpToolDefinition.parse(JSON.parse(pin.definition));
  } catch {
    // An approval that cannot be read is none.
    return null;
  }
}
