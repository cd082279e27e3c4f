"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowUp, Plus, X } from "lucide-react";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { Field } from "@/components/ui/field";
import { IconButton } from "@/components/ui/icon-button";
import { ListEditor } from "@/components/ui/list-editor";
import { NumberField } from "@/components/ui/number-field";
import { Select } from "@/components/ui/select";
import { SuggestField } from "@/components/ui/suggest-field";
import { type LlmConfig, llmOver } from "@/server/domain/agent/role";
import { present } from "@/server/domain/base/must";
import { DurationField } from "./duration-field";
import type { FieldProps } from "./field-props";
import { JsonField } from "./json-field";

const DEFAULT = "(default)";
const MOST_FALLBACKS = 3;
const MOST_STOPS = 4;

const EFFORTS = [
  { value: DEFAULT, label: "As the model does" },
  { value: "none", label: "Not at all" },
  { value: "minimal", label: "Hardly" },
  { value: "low", label: "A little" },
  { value: "medium", label: "Some" },
  { value: "high", label: "Much" },
  { value: "xhigh", label: "Very much" },
  { value: "max", label: "As much as it can" },
] as const;
const SHAPES = [
  { value: "auto", label: "As the model can" },
  { value: "json_schema", label: "By a JSON schema" },
  { value: "json_object", label: "As JSON, the shape in words" },
  { value: "prompt", label: "In words only" },
] as const;

const wordOf = (options: readonly { value: string; label: string }[], value: string) =>
  options.find((option) => option.value === value)?.label ?? value;

/** Which model answers, and how; what is left empty comes from the agent that does it, then from the default provider. */
export function LlmField({
  label,
  hideLabel,
  hint,
  error,
  value,
  inherited,
  onChange,
}: FieldProps & { inherited?: LlmConfig | undefined }) {
  const config = (value ?? {}) as LlmConfig;
  const used = llmOver(inherited, config) ?? {};
  const shown = (number: number | undefined) => (number === undefined ? "Default" : String(number));
  const seconds = (ms: number | undefined, otherwise: string) =>
    ms === undefined ? otherwise : String(ms / 1000);
  /** What an agent has of a list or the like, which no placeholder can show. */
  const instead = (words: string | undefined, otherwise: string) =>
    words ? `If nothing is said here, as the agent: ${words}.` : otherwise;
  const set = (patch: { [K in keyof LlmConfig]?: LlmConfig[K] | undefined }) => {
    const next = Object.fromEntries(
      Object.entries({ ...config, ...patch }).filter(
        ([, inner]) => inner !== undefined && inner !== "" && !(Array.isArray(inner) && inner.length === 0),
      ),
    );
    onChange(Object.keys(next).length > 0 ? next : undefined);
  };
  const unsaidShape = inherited?.structured_output ? DEFAULT : "auto";
  const whole = (amount: number | null) => (amount === null ? undefined : Math.round(amount));
  return (
    <Field label={label} {...(hideLabel ? { hideLabel } : {})} hint={hint} error={error} group>
      <div className="grid grid-cols-2 gap-3">
        <ModelChoice choice={config} hasDefault inherited={inherited && used} onChange={set} />
        <NumberField
          label="Temperature"
          min={0}
          max={2}
          step={0.1}
          placeholder={shown(used.temperature)}
          value={config.temperature ?? null}
          onValueChange={(temperature) => set({ temperature: temperature ?? undefined })}
        />
        <NumberField
          label="Most tokens"
          min={1}
          step={256}
          placeholder={shown(used.max_tokens)}
          value={config.max_tokens ?? null}
          onValueChange={(max_tokens) => set({ max_tokens: whole(max_tokens) })}
        />
      </div>
      <Disclosure look="box" title="More about the model">
        <Fallbacks
          models={config.fallback_models ?? []}
          hint={instead(
            inherited?.fallback_models?.map(({ model }) => model).join(", "),
            "In this order, each after the one before has failed.",
          )}
          onChange={(fallback_models) => set({ fallback_models })}
        />
        <div className="grid grid-cols-2 gap-3">
          <Select
            label="Thinks before it answers"
            options={
              inherited?.reasoning_effort
                ? EFFORTS.map((option) =>
                    option.value === DEFAULT
                      ? {
                          ...option,
                          label: "As the agent",
                          hint: wordOf(
                            EFFORTS,
                            present(inherited.reasoning_effort, "inherited.reasoning_effort"),
                          ),
                        }
                      : option,
                  )
                : EFFORTS
            }
            value={config.reasoning_effort ?? DEFAULT}
            onValueChange={(effort) => set({ reasoning_effort: effort === DEFAULT ? undefined : effort })}
          />
          <Select
            label="Shape is asked for"
            options={
              inherited?.structured_output
                ? [
                    {
                      value: DEFAULT,
                      label: "As the agent",
                      hint: wordOf(SHAPES, inherited.structured_output),
                    },
                    ...SHAPES,
                  ]
                : SHAPES
            }
            value={config.structured_output ?? unsaidShape}
            onValueChange={(way) =>
              set({ structured_output: way === unsaidShape || way === DEFAULT ? undefined : way })
            }
          />
          <NumberField
            label="Top p"
            hint="Of the likeliest words, this share."
            min={0}
            max={1}
            step={0.05}
            placeholder={shown(used.top_p)}
            value={config.top_p ?? null}
            onValueChange={(top_p) => set({ top_p: top_p ?? undefined })}
          />
          <NumberField
            label="Seed"
            hint="The same one, often the same answer."
            step={1}
            placeholder={used.seed === undefined ? "Any" : String(used.seed)}
            value={config.seed ?? null}
            onValueChange={(seed) => set({ seed: whole(seed) })}
          />
        </div>
        <div className="@container">
          <div className="grid grid-cols-1 gap-3 @lg:grid-cols-2">
            <DurationField
              label="Longest wait"
              hint="Until the first word. Models that think get 600 s, those on own hardware 300 s."
              placeholder={seconds(inherited?.first_byte_ms, "60")}
              value={config.first_byte_ms}
              onChange={(ms) => set({ first_byte_ms: typeof ms === "number" && ms > 0 ? ms : undefined })}
            />
            <DurationField
              label="Longest silence"
              hint="Between two pieces of an answer. Models that think get 180 s."
              placeholder={seconds(inherited?.idle_timeout_ms, "45")}
              value={config.idle_timeout_ms}
              onChange={(ms) => set({ idle_timeout_ms: typeof ms === "number" && ms > 0 ? ms : undefined })}
            />
            <DurationField
              label="Longest answer"
              hint="Then the call counts as failed. Models that think get 1,800 s."
              placeholder={seconds(inherited?.timeout_ms, "600")}
              value={config.timeout_ms}
              onChange={(ms) => set({ timeout_ms: typeof ms === "number" && ms > 0 ? ms : undefined })}
            />
          </div>
        </div>
        <ListEditor
          label="Stop at"
          hint={instead(
            inherited?.stop?.join(", "),
            `The answer ends where one of these would come; at most ${MOST_STOPS}.`,
          )}
          itemName="text"
          mono
          items={config.stop ?? []}
          onItemsChange={(stop) => set({ stop: stop.slice(0, MOST_STOPS) })}
        />
        <JsonField
          label="Further fields"
          hint={instead(
            inherited?.extra_body && JSON.stringify(inherited.extra_body),
            "Sent along as they are, for what only this service knows.",
          )}
          value={config.extra_body}
          check={(given) =>
            given !== null && typeof given === "object" && !Array.isArray(given)
              ? null
              : 'Fields in braces, e.g. { "top_k": 40 }.'
          }
          onChange={(given) => set({ extra_body: given as LlmConfig["extra_body"] })}
        />
      </Disclosure>
    </Field>
  );
}

/** The models that are asked, in this order, where the first one fails. */
function Fallbacks({
  models,
  hint,
  onChange,
}: {
  models: NonNullable<LlmConfig["fallback_models"]>;
  hint: string;
  onChange: (models: NonNullable<LlmConfig["fallback_models"]>) => void;
}) {
  const { data } = useQuery(useTrpc().providers.list.queryOptions());
  const standard = data?.providers.find((provider) => provider.is_default)?.id ?? "";
  const put = (at: number, ...instead: typeof models) => onChange(models.toSpliced(at, 1, ...instead));
  return (
    <Field label="If it fails, ask" hint={hint} group>
      <ol className="flex flex-col gap-3">
        {models.map((model, at) => (
          <li key={at} className="grid grid-cols-2 items-end gap-3">
            <ModelChoice
              choice={model}
              ordinal={at + 1}
              onChange={(change) => put(at, { ...model, model: "", ...change })}
            />
            <div className="col-span-2 -mt-1 flex justify-end gap-1">
              {at > 0 ? (
                <IconButton
                  plain
                  size="sm"
                  label={`Ask model ${at + 1} sooner`}
                  icon={<ArrowUp aria-hidden="true" />}
                  onClick={() =>
                    onChange(models.toSpliced(at - 1, 2, model, present(models[at - 1], "models[at - 1]")))
                  }
                />
              ) : null}
              <IconButton
                plain
                size="sm"
                label={`Remove model ${at + 1}`}
                icon={<X aria-hidden="true" />}
                onClick={() => put(at)}
              />
            </div>
          </li>
        ))}
      </ol>
      {models.length < MOST_FALLBACKS ? (
        <Button
          size="sm"
          className="self-start"
          icon={<Plus aria-hidden="true" />}
          onClick={() => onChange([...models, { provider_id: standard, model: "" }])}
        >
          Add a model
        </Button>
      ) : null}
    </Field>
  );
}

/** A provider and one of its models. */
export function ModelChoice({
  choice,
  ordinal,
  hasDefault = false,
  inherited,
  onChange,
}: {
  choice: Pick<LlmConfig, "provider_id" | "model">;
  /** Its place among several. */
  ordinal?: number;
  /** The provider may be left to the settings. */
  hasDefault?: boolean;
  /** What counts where nothing is said here; absent: what the default provider says. */
  inherited?: Pick<LlmConfig, "provider_id" | "model"> | undefined;
  onChange: (change: { provider_id?: string; model?: string }) => void;
}) {
  const trpc = useTrpc();
  const { data } = useQuery(trpc.providers.list.queryOptions());
  const providers = data?.providers ?? [];
  const chosen = providers.find((provider) => provider.id === choice.provider_id);
  const used =
    chosen ??
    providers.find((provider) => provider.id === inherited?.provider_id) ??
    providers.find((provider) => provider.is_default);
  const models = useQuery({
    ...trpc.providers.models.queryOptions({ id: used?.id ?? "" }),
    enabled: !!used && used.kind !== "offline",
    staleTime: 300_000,
    retry: false,
  });
  const number = ordinal === undefined ? "" : ` ${ordinal}`;
  return (
    <>
      <Select
        label={`Provider${number}`}
        options={[
          ...(hasDefault
            ? [
                {
                  value: DEFAULT,
                  label: inherited?.provider_id ? "As the agent" : "Default",
                  ...(used && !chosen ? { hint: used.name } : {}),
                },
              ]
            : []),
          ...providers.map(({ id, name, simulated }) => ({
            value: id,
            label: name,
            ...(simulated ? { hint: "Simulated" } : {}),
          })),
          ...(choice.provider_id && !chosen && data
            ? [{ value: choice.provider_id, label: choice.provider_id, hint: "Not set up here" }]
            : []),
        ]}
        value={choice.provider_id || (hasDefault ? DEFAULT : null)}
        onValueChange={(next) => onChange({ provider_id: next === DEFAULT ? "" : next })}
      />
      <SuggestField
        label={`Model${number}`}
        suggestions={(models.data ?? []).map((value) => ({ value }))}
        placeholder={inherited?.model || used?.default_model || "Default"}
        value={choice.model ?? ""}
        onValueChange={(model) => onChange({ model })}
      />
    </>
  );
}
