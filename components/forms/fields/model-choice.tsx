"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowUp, Plus, X } from "lucide-react";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Field } from "@/components/ui/input/field";
import { Select } from "@/components/ui/input/select";
import { SuggestField } from "@/components/ui/input/suggest-field";
import type { LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { present } from "@/server/domain/base/must";

const DEFAULT = "(default)";
const MOST_FALLBACKS = 3;

/** The models to try, in this order, if the first one fails. */
export function FallbackModels({
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
    <Field label="Fallback models" hint={hint} group>
      <ol className="flex flex-col gap-3">
        {models.map((model, at) => (
          <li key={at} className="grid grid-cols-2 items-end gap-3">
            <ModelChoice
              choice={model}
              suffix={` ${at + 1}`}
              onChange={(change) => put(at, { ...model, model: "", ...change })}
            />
            <div className="col-span-2 -mt-1 flex justify-end gap-1">
              {at > 0 ? (
                <IconButton
                  plain
                  size="sm"
                  label={`Move model ${at + 1} up`}
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
          Add model
        </Button>
      ) : null}
    </Field>
  );
}

export const providerChoice = ({ id, name, simulated }: { id: string; name: string; simulated: boolean }) =>
  defined({ value: id, label: name, hint: simulated ? "Simulated" : undefined });

/** A provider and one of its models. */
export function ModelChoice({
  choice,
  suffix = "",
  hasDefault = false,
  inherited,
  onChange,
}: {
  choice: Pick<LlmConfig, "provider_id" | "model">;
  /** Ends its labels. */
  suffix?: string;
  /** Offers the default provider. */
  hasDefault?: boolean;
  /** Used if nothing is chosen here; otherwise the default provider is. */
  inherited?: Pick<LlmConfig, "provider_id" | "model"> | undefined;
  onChange: (change: { provider_id?: string; model?: string }) => void;
}) {
  const { data } = useQuery(useTrpc().providers.list.queryOptions());
  const providers = data?.providers ?? [];
  const withId = (id: string | undefined) => providers.find((provider) => provider.id === id);
  const chosen = withId(choice.provider_id);
  const used = chosen ?? withId(inherited?.provider_id) ?? providers.find(({ is_default }) => is_default);
  const models = useModels(used);
  const standard = defined({
    value: DEFAULT,
    label: inherited?.provider_id ? "Inherit from agent" : "Default",
    hint: chosen ? undefined : used?.name,
  });
  return (
    <>
      <Select
        label={`Provider${suffix}`}
        options={[
          ...(hasDefault ? [standard] : []),
          ...providers.map(providerChoice),
          ...(choice.provider_id && !chosen && data
            ? [{ value: choice.provider_id, label: choice.provider_id, hint: "Not configured" }]
            : []),
        ]}
        value={choice.provider_id || (hasDefault ? DEFAULT : null)}
        onValueChange={(next) => onChange({ provider_id: next === DEFAULT ? "" : next })}
      />
      <SuggestField
        label={`Model${suffix}`}
        suggestions={models.map((value) => ({ value }))}
        placeholder={inherited?.model || used?.default_model || "Default"}
        value={choice.model ?? ""}
        onValueChange={(model) => onChange({ model })}
      />
    </>
  );
}

/** The models that a provider offers; empty if it cannot be asked. */
function useModels(provider: { id: string; kind: string } | undefined): readonly string[] {
  const { data } = useQuery({
    ...useTrpc().providers.models.queryOptions({ id: provider?.id ?? "" }),
    enabled: !!provider && provider.kind !== "offline",
    staleTime: 300_000,
    retry: false,
  });
  return data ?? [];
}
