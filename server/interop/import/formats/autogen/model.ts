import { isText, listOf } from "@/server/domain/base/guards";
import { type Findings, isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { textOf } from "../../values";

/** A component in AutoGen's format: its type and its settings. */
export interface Component {
  /** The last part of the provider: AssistantAgent. */
  kind: string;
  label: string;
  config: Raw;
  report: Findings;
}

export const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : null;

/** Whether a value is a component of AutoGen 0.4 or later. */
export const isComponent = (value: unknown): value is Raw =>
  isRaw(value) &&
  typeof value.provider === "string" &&
  isRaw(value.config) &&
  (/autogen/i.test(value.provider) || typeof value.component_type === "string");

/** A component; null where the value is none. `report`: findings at its place. */
export function componentOf(value: unknown, report: Findings): Component | null {
  if (!isComponent(value)) return null;
  const provider = textOf(value.provider);
  const config = isRaw(value.config) ? value.config : {};
  return { kind: provider.slice(provider.lastIndexOf(".") + 1), label: textOf(value.label), config, report };
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
export interface Termination {
  /** Texts whose mention ends it, each with the agents that count; none: all do. */
  mentions: { text: string; by: string[] }[];
  messages: number | null;
}

/** Reads a condition that ends a team; what has no counterpart is named. */
export function terminationOf(value: unknown, report: Findings, depth = 0): Termination {
  const termination: Termination = { mentions: [], messages: null };
  const component = depth < 8 ? componentOf(value, report) : null;
  if (!component) return termination;
  const { kind, config } = component;
  switch (kind) {
    case "OrTerminationCondition":
    case "AndTerminationCondition": {
      if (kind.startsWith("And"))
        report.changed(
          "termination_condition",
          "The team stops only when several conditions are all true; here it stops as soon as one is true.",
        );
      for (const inner of listOf(config.conditions)) {
        const { mentions, messages } = terminationOf(inner, report, depth + 1);
        termination.mentions.push(...mentions);
        if (messages !== null) termination.messages = Math.min(messages, termination.messages ?? messages);
      }
      return termination;
    }
    case "TextMentionTermination":
    case "StopMessageTermination": {
      const text = textOf(config.text) || "TERMINATE";
      return {
        mentions: [{ text, by: listOf(config.sources).filter(isText) }],
        messages: null,
      };
    }
    case "MaxMessageTermination":
      return { mentions: [], messages: numberOf(config.max_messages) };
    case "HandoffTermination":
      report.changed(
        "termination_condition",
        `A handoff to "${textOf(config.target)}" ended the team; here the team continues.`,
      );
      return termination;
    default:
      report.dropped(
        "termination_condition",
        `The end condition ${kind} has no equivalent and was left out.`,
      );
      return termination;
  }
}
