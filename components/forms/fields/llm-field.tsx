"use client";

import { Field } from "@/components/ui/input/field";
import { MODEL_FORM, REASONING_EFFORTS, STRUCTURED_OUTPUTS } from "@/server/domain/agent/model-form";
import { type LlmConfig, llmOver } from "@/server/domain/agent/role";
import { withSetting } from "@/server/domain/base/form";
import { entriesOf } from "@/server/domain/base/guards";
import { isAgentNode, settingsOf } from "@/server/domain/nodes";
import type { FieldProps } from "../field-props";
import { type FieldsNow, FormParts } from "../form-parts";
import { useFormScope } from "../form-scope";
import { useLibraryAgents } from "./agent-choice";
import { FallbackModels, ModelChoice } from "./model-choice";

/** A model and its parameters. Empty fields inherit from the agent, then from the default provider. */
export function LlmField({
  label,
  hideLabel,
  hint,
  error,
  value,
  inherited,
  onChange,
}: FieldProps<LlmConfig | undefined> & {
  value: LlmConfig | undefined;
  inherited?: LlmConfig | undefined;
}) {
  const config = value ?? {};
  const used = llmOver(inherited, config) ?? {};
  const write = (next: LlmConfig) => onChange(Object.keys(next).length > 0 ? next : undefined);
  return (
    <Field {...{ label, hideLabel, hint, error }} group>
      <FormParts
        parts={MODEL_FORM}
        value={config}
        onChange={write}
        now={inherited ? asTheAgent(inherited, used) : {}}
        slots={{
          model: (
            <ModelChoice
              choice={config}
              hasDefault
              inherited={inherited && used}
              onChange={(change) => write(withModel(config, change))}
            />
          ),
          fallbacks: (
            <FallbackModels
              models={config.fallback_models ?? []}
              hint={
                instead(inherited?.fallback_models?.map(({ model }) => model).join(", "))?.hint ??
                "Tried in order if the previous model fails"
              }
              onChange={(models) =>
                write(withSetting(config, "fallback_models", models.length > 0 ? models : undefined))
              }
            />
          ),
        }}
      />
    </Field>
  );
}

/** The config with another provider or model; empty ones are inherited. */
const withModel = (config: LlmConfig, change: Pick<LlmConfig, "provider_id" | "model">) =>
  entriesOf(change).reduce((next, [key, text]) => withSetting(next, key, text || undefined), config);

/** The placeholders of fields inherited from an agent. */
function asTheAgent(agent: LlmConfig, used: LlmConfig): FieldsNow<LlmConfig> {
  const { reasoning_effort: effort, structured_output: shape, extra_body } = agent;
  return {
    temperature: number(used.temperature),
    max_tokens: number(used.max_tokens),
    top_p: number(used.top_p),
    seed: number(used.seed),
    first_byte_ms: seconds(agent.first_byte_ms),
    idle_timeout_ms: seconds(agent.idle_timeout_ms),
    timeout_ms: seconds(agent.timeout_ms),
    stop: instead(agent.stop?.join(", ")),
    extra_body: instead(extra_body && JSON.stringify(extra_body)),
    reasoning_effort: effort && { unset: "Inherit from agent", unsetHint: REASONING_EFFORTS[effort] },
    structured_output: shape && { unset: "Inherit from agent", unsetHint: STRUCTURED_OUTPUTS[shape] },
  };
}

const number = (amount: number | undefined) =>
  amount === undefined ? undefined : { placeholder: String(amount) };
const seconds = (ms: number | undefined) => number(ms === undefined ? undefined : ms / 1000);
/** Inherited values that no placeholder can show, such as lists. */
const instead = (text: string | undefined) =>
  text ? { hint: `Inherited from agent if empty: ${text}` } : undefined;

/** The model of a task. Empty fields inherit from its agent. */
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
