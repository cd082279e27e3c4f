import { choicesOf, type FormPart } from "@/server/domain/base/form";
import { entriesOf } from "@/server/domain/base/guards";
import { TOOL_PROTOCOLS } from "@/server/domain/tool/tool";
import { MEMORY_SCOPES } from "./memory/memory-scope";
import type { AgentConfig } from "./role";

/** How an agent calls tools, in words. */
const AGENT_TOOL_PROTOCOLS: Record<AgentConfig["tool_protocol"], string> = {
  auto: "Auto",
  ...TOOL_PROTOCOLS,
  none: "None",
};

/** The form of an agent. Slots: its role and whose settings it has, its model, and what only its crew knows of it. */
export const AGENT_FORM: readonly FormPart<AgentConfig, "role" | "model" | "membership">[] = [
  { slot: "role" },
  { key: "backstory", label: "Backstory", as: "multiline", aside: "Optional", lines: 2 },
  { slot: "model" },
  {
    key: "allow_delegation",
    label: "Allow delegation",
    as: "switch",
    hint: "Can ask coworkers and delegate tasks in a crew",
  },
  {
    as: "box",
    title: "More",
    parts: [
      { slot: "membership" },
      {
        key: "tool_protocol",
        label: "Tool calling",
        as: "choice",
        options: choicesOf(AGENT_TOOL_PROTOCOLS),
      },
      {
        as: "columns",
        most: 2,
        parts: [
          { key: "max_iterations", label: "Max turns", as: "number", min: 1, max: 200, empty: 10 },
          {
            key: "max_execution_time_s",
            label: "Max duration",
            as: "number",
            unit: "s",
            min: 1,
            step: 30,
            empty: 600,
          },
          { key: "max_rpm", label: "Requests per minute", as: "number", min: 1, placeholder: "No limit" },
          { key: "tool_concurrency", label: "Parallel tool calls", as: "number", min: 1, max: 8, empty: 4 },
          {
            key: "max_delegation_depth",
            label: "Delegation depth",
            as: "number",
            min: 0,
            max: 5,
            empty: 2,
            showIf: ({ allow_delegation }) => allow_delegation,
          },
        ],
      },
      {
        key: "memory_scopes",
        label: "Memory scopes",
        as: "several",
        options: entriesOf(MEMORY_SCOPES).map(([value, { title }]) => ({ value, label: title })),
      },
      {
        as: "group",
        title: "Context compaction",
        hint: "Summarizes the middle of long conversations",
        parts: [
          {
            as: "columns",
            most: 2,
            parts: [
              {
                key: "context.condense_at",
                label: "Compact at",
                as: "percent",
                min: 10,
                max: 100,
                step: 5,
                empty: 0.75,
              },
              {
                key: "context.target",
                label: "Target size",
                as: "percent",
                min: 5,
                max: 95,
                step: 5,
                empty: 0.5,
              },
              { key: "context.keep_first", label: "Keep first messages", as: "number", min: 0, empty: 4 },
              { key: "context.max_messages", label: "Max messages", as: "number", min: 4, empty: 80 },
            ],
          },
        ],
      },
    ],
  },
];
