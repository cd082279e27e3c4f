import { type Findings, isRaw, type Raw } from "@/server/domain/base/lenient-reader";

/** A component as AutoGen writes it: what it is, and its settings. */
export interface Component {
  /** The last part of the provider: AssistantAgent. */
  kind: string;
  label: string;
  config: Raw;
  here: Findings;
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : null;

/** Whether a value is a component of AutoGen 0.4 or later. */
export const isComponent = (value: unknown): value is Raw =>
  isRaw(value) &&
  typeof value.provider === "string" &&
  isRaw(value.config) &&
  (/autogen/i.test(value.provider) || typeof value.component_type === "string");

/** A component; null where the value is none. `here`: findings at its place. */
export function componentOf(value: unknown, here: Findings): Component | null {
  if (!isComponent(value)) return null;
  const provider = textOf(value.provider);
  const config = isRaw(value.config) ? value.config : {};
  return { kind: provider.slice(provider.lastIndexOf(".") + 1), label: textOf(value.label), config, here };
}

const TEAMS: ReadonlySet<string> = new Set([
  "RoundRobinGroupChat",
  "SelectorGroupChat",
  "Swarm",
  "MagenticOneGroupChat",
  "GraphFlow",
]);
export const isTeam = (value: unknown): boolean =>
  isComponent(value) &&
  (value.component_type === "team" || TEAMS.has(textOf(value.provider).split(".").at(-1) ?? ""));
export const isAgent = (value: unknown): boolean =>
  isComponent(value) && (value.component_type === "agent" || /Agent$|Surfer$/.test(textOf(value.provider)));

/** When a team stops. */
export interface Ending {
  /** Words that end it, each with those who may say them; nobody named: anybody. */
  words: { text: string; by: string[] }[];
  messages: number | null;
}

/** Reads a condition that ends a team; what has no counterpart is named. */
export function endingOf(value: unknown, here: Findings, depth = 0): Ending {
  const ending: Ending = { words: [], messages: null };
  const component = depth < 8 ? componentOf(value, here) : null;
  if (!component) return ending;
  const { kind, config } = component;
  switch (kind) {
    case "OrTerminationCondition":
    case "AndTerminationCondition": {
      if (kind.startsWith("And"))
        here.changed(
          "termination_condition",
          "The team stops when all of several conditions hold; here the first that holds ends it.",
        );
      for (const inner of listOf(config.conditions)) {
        const { words, messages } = endingOf(inner, here, depth + 1);
        ending.words.push(...words);
        if (messages !== null) ending.messages = Math.min(messages, ending.messages ?? messages);
      }
      return ending;
    }
    case "TextMentionTermination":
    case "StopMessageTermination": {
      const text = textOf(config.text) || "TERMINATE";
      return {
        words: [{ text, by: listOf(config.sources).filter((one): one is string => typeof one === "string") }],
        messages: null,
      };
    }
    case "MaxMessageTermination":
      return { words: [], messages: numberOf(config.max_messages) };
    default:
      here.dropped(
        "termination_condition",
        `The end condition ${kind} has no counterpart here and was left out.`,
      );
      return ending;
  }
}
