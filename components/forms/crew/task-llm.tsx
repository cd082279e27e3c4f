"use client";

import { useLibraryAgents } from "@/components/forms/agent-choice";
import { isAgentNode, settingsOf } from "@/server/domain/nodes";
import type { FieldProps } from "../field-props";
import { useFormScope } from "../form-scope";
import { LlmField } from "../llm-field";

/** The model of one task; what is left empty comes from the agent that does it. */
export function TaskLlm(props: FieldProps) {
  const { node } = useFormScope();
  const library = useLibraryAgents();
  const config = isAgentNode(node) ? node.config : undefined;
  const agent = config?.agent_ref
    ? (library.find(({ id }) => id === config.agent_ref)?.agent ?? config.agent)
    : undefined;
  return (
    <LlmField
      {...props}
      value={node ? settingsOf(node).llm_config : undefined}
      inherited={agent?.llm_config}
    />
  );
}
