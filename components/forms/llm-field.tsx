"use client";

import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { useTrpc } from "@/components/trpc";
import { Field } from "@/components/ui/field";
import { NumberField } from "@/components/ui/number-field";
import { Select } from "@/components/ui/select";
import { TextField } from "@/components/ui/text-field";
import type { LlmConfig } from "@/server/domain/role";
import type { FieldProps } from "./field-view";

const DEFAULT = "(default)";

/** Which model answers, and how freely; what is left empty comes from the default provider. */
export function LlmField({ label, hideLabel, hint, error, value, onChange }: FieldProps) {
  const trpc = useTrpc();
  const id = useId();
  const config = (value ?? {}) as LlmConfig;
  const { data } = useQuery(trpc.providers.list.queryOptions());
  const providers = data?.providers ?? [];
  const chosen = providers.find((provider) => provider.id === config.provider_id);
  const used = chosen ?? providers.find((provider) => provider.is_default);
  const models = useQuery({
    ...trpc.providers.models.queryOptions({ id: used?.id ?? "" }),
    enabled: !!used && used.kind !== "offline",
    staleTime: 300_000,
    retry: false,
  });
  const set = (patch: Partial<LlmConfig>) => {
    const next = Object.fromEntries(
      Object.entries({ ...config, ...patch }).filter(([, inner]) => inner !== undefined && inner !== ""),
    );
    onChange(Object.keys(next).length > 0 ? next : undefined);
  };
  return (
    <Field label={label} {...(hideLabel ? { hideLabel } : {})} hint={hint} error={error} group>
      <div className="grid grid-cols-2 gap-3">
        <Select
          label="Provider"
          options={[
            { value: DEFAULT, label: "Default", ...(used && !chosen ? { hint: used.name } : {}) },
            ...providers.map(({ id, name, simulated }) => ({
              value: id,
              label: name,
              ...(simulated ? { hint: "Simulated" } : {}),
            })),
            ...(config.provider_id && !chosen && data
              ? [{ value: config.provider_id, label: config.provider_id, hint: "Not set up here" }]
              : []),
          ]}
          value={config.provider_id ?? DEFAULT}
          onValueChange={(next) => set({ provider_id: next === DEFAULT ? undefined : next })}
        />
        <div>
          <TextField
            label="Model"
            list={id}
            placeholder={used?.default_model || "Default"}
            value={config.model ?? ""}
            onValueChange={(model) => set({ model })}
          />
          <datalist id={id}>
            {models.data?.map((model) => (
              <option key={model} value={model} />
            ))}
          </datalist>
        </div>
        <NumberField
          label="Temperature"
          min={0}
          max={2}
          step={0.1}
          placeholder="Default"
          value={config.temperature ?? null}
          onValueChange={(temperature) => set({ temperature: temperature ?? undefined })}
        />
        <NumberField
          label="Most tokens"
          min={1}
          step={256}
          placeholder="Default"
          value={config.max_tokens ?? null}
          onValueChange={(max_tokens) =>
            set({ max_tokens: max_tokens === null ? undefined : Math.round(max_tokens) })
          }
        />
      </div>
    </Field>
  );
}
