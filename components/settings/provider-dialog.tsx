"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import clsx from "clsx";
import { type ComponentProps, useState } from "react";
import { type Answers, toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Dialog } from "@/components/ui/dialog";
import { Disclosure } from "@/components/ui/disclosure";
import { NumberField } from "@/components/ui/number-field";
import { Select } from "@/components/ui/select";
import { SuggestField } from "@/components/ui/suggest-field";
import { TextField } from "@/components/ui/text-field";
import { toast } from "@/components/ui/toasts";
import { concurrencyOf, isLocalServer } from "@/server/domain/model/provider";
import { areHeadersFine, type HeaderDraft, HeaderRows } from "./header-rows";
import { providerPresets } from "./provider-presets";
import { TestResult } from "./test-result";

export type ProviderListed = Answers["providers"]["list"]["providers"][number];

/** What the form begins with: a saved provider, or a suggestion. */
export interface ProviderDraft {
  id?: string;
  name: string;
  base_url: string;
  default_model: string;
}

const APIS = [
  { value: "auto", label: "As tested" },
  { value: "chat", label: "Chat Completions" },
  { value: "responses", label: "Responses" },
] as const;

const TOOL_PROTOCOLS = [
  { value: "auto", label: "As it can" },
  { value: "native", label: "As functions" },
  { value: "text", label: "As text" },
] as const;

/** How long its models may take, in seconds; an agent may say otherwise. */
const TIMES = [
  { name: "first_byte_ms", label: "Longest wait", hint: "Seconds until the first word." },
  { name: "idle_timeout_ms", label: "Longest silence", hint: "Seconds between two pieces." },
  { name: "timeout_ms", label: "Longest answer", hint: "Seconds in all." },
] as const;

export interface ProviderDialogProps {
  /** The provider that is changed; null for a new one. */
  saved: ProviderListed | null;
  /** A start for a new one, e.g. the Ollama that was found. */
  suggestion?: ProviderDraft & { models?: readonly string[] };
  onClose: () => void;
}

/** Adds or changes a provider of models. Its key goes in and never comes out again. */
export function ProviderDialog({ saved, suggestion, onClose }: ProviderDialogProps) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const [preset, setPreset] = useState<string | null>(saved || suggestion ? "other" : null);
  const [draft, setDraft] = useState<ProviderDraft>(
    saved ?? suggestion ?? { name: "", base_url: "", default_model: "" },
  );
  const [key, setKey] = useState("");
  const [dropKey, setDropKey] = useState(false);
  const [settings, setSettings] = useState<ProviderListed["settings"]>(saved?.settings ?? {});
  const [headers, setHeaders] = useState<HeaderDraft[]>(
    () => saved?.header_names.map((name) => ({ name })) ?? [],
  );
  const [isDefault, setIsDefault] = useState(saved ? saved.is_default : true);
  const [tried, setTried] = useState(false);
  const chosen = providerPresets.find((candidate) => candidate.key === preset);

  const set = (change: Partial<ProviderDraft>) => {
    setDraft({ ...draft, ...change });
    test.reset();
  };
  const faults = faultsOf(draft);
  const shown = tried ? faults : {};
  const keyToSend = key.trim() ? key.trim() : dropKey ? null : undefined;
  const addressChanged = saved !== null && saved.base_url !== draft.base_url.trim().replace(/\/+$/, "");

  const test = useMutation(
    trpc.providers.test.mutationOptions({
      onSuccess: ({ models }) => {
        // Whoever leaves the model open gets one that is there.
        const model = draft.default_model.trim() === "" ? suggestedModel(models, chosen?.prefers) : undefined;
        if (model !== undefined) setDraft((now) => ({ ...now, default_model: model }));
      },
    }),
  );
  const storedHeaders = saved && !addressChanged ? saved.header_names : [];
  const makeDefault = useMutation(trpc.providers.setDefault.mutationOptions());
  const save = useMutation(
    trpc.providers.save.mutationOptions({
      onSuccess: async ({ id }) => {
        if (isDefault) await makeDefault.mutateAsync({ id });
        await queryClient.invalidateQueries(trpc.providers.pathFilter());
        onClose();
        toast(`Saved “${draft.name.trim()}”`, { tone: "success" });
      },
    }),
  );
  const headersToSend = headers.map(({ name, value }) => (value ? { name, value } : { name }));
  const haveHeadersChanged =
    headers.some(({ value }) => value !== undefined) || headers.length !== storedHeaders.length;
  const runTest = () => {
    setTried(true);
    if (faults.base_url) return;
    const asSaved = saved && !addressChanged && keyToSend === undefined && !haveHeadersChanged;
    test.mutate(
      asSaved
        ? { id: saved.id, default_model: draft.default_model.trim() }
        : {
            base_url: draft.base_url.trim(),
            ...(saved && !addressChanged ? { id: saved.id } : {}),
            ...(keyToSend ? { key: keyToSend } : {}),
            ...(haveHeadersChanged ? { headers: headersToSend } : {}),
            ...(draft.default_model.trim() ? { default_model: draft.default_model.trim() } : {}),
          },
    );
  };
  const submit = () => {
    setTried(true);
    if (Object.keys(faults).length > 0 || !areHeadersFine(headers, storedHeaders)) return;
    save.mutate({
      ...(saved ? { id: saved.id } : {}),
      name: draft.name.trim(),
      base_url: draft.base_url.trim(),
      default_model: draft.default_model.trim(),
      ...(keyToSend === undefined ? {} : { key: keyToSend }),
      ...(haveHeadersChanged ? { headers: headersToSend } : {}),
      settings,
    });
  };
  const models = test.data?.models.length ? test.data.models : (suggestion?.models ?? []);

  return (
    <Dialog
      open
      onOpenChange={onClose}
      sticky
      title={saved ? `Change “${saved.name}”` : "Add a model provider"}
      description={chosen || saved ? undefined : "Where do the answers come from?"}
      footer={
        chosen ? (
          <>
            <Button pending={test.isPending} onClick={runTest} className="mr-auto">
              Test
            </Button>
            <Button onClick={onClose}>Cancel</Button>
            <Button variant="primary" pending={save.isPending || makeDefault.isPending} onClick={submit}>
              {saved ? "Save" : "Add provider"}
            </Button>
          </>
        ) : null
      }
    >
      {chosen ? (
        <form
          aria-label="Model provider"
          noValidate
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <TextField
            label="Name"
            value={draft.name}
            onValueChange={(name) => set({ name })}
            error={shown.name}
            maxLength={80}
          />
          <TextField
            label="Address"
            mono
            value={draft.base_url}
            onValueChange={(base_url) => set({ base_url })}
            placeholder="https://api.example.org/v1"
            error={shown.base_url}
            hint={
              addressChanged && saved?.has_key && !key
                ? "The stored key belongs to the old address and is dropped with it. Enter the key for the new one."
                : undefined
            }
          />
          <TextField
            label="API key"
            type="password"
            mono
            autoComplete="off"
            value={key}
            onValueChange={(next) => {
              setKey(next);
              setDropKey(false);
              test.reset();
            }}
            placeholder={
              saved?.has_key && !dropKey
                ? saved.key_hint
                  ? `Stored, ends in ${saved.key_hint}`
                  : "Stored"
                : ""
            }
            hint={
              chosen.needs_key
                ? "Encrypted in the data folder. It is sent to this address only and never shown again."
                : "Only if the server asks for one. Encrypted, and never shown again."
            }
            aside={
              saved?.has_key && !key ? (
                <button
                  type="button"
                  className="text-[13px] text-accent"
                  onClick={() => setDropKey(!dropKey)}
                >
                  {dropKey ? "Keep the stored key" : "Remove the stored key"}
                </button>
              ) : undefined
            }
          />
          <SuggestField
            label="Model"
            mono
            suggestions={models.map((value) => ({ value }))}
            value={draft.default_model}
            onValueChange={(default_model) => set({ default_model })}
            error={shown.default_model}
            hint={
              models.length > 0
                ? `${models.length} to choose from; type to search.`
                : "Used where a node names none. A test lists the models, and asks this one a few tiny questions."
            }
          />
          <Checkbox
            label="Use for all runs"
            hint="Unless a node names another provider."
            checked={isDefault}
            disabled={saved?.is_default}
            onCheckedChange={setIsDefault}
          />
          <Disclosure look="box" title="Limits and prices">
            <div className="grid gap-4 sm:grid-cols-3">
              <Limit
                label="Calls at once"
                min={1}
                max={64}
                name="max_concurrency"
                placeholder={URL.canParse(draft.base_url) ? String(defaultConcurrency(draft)) : "4"}
                settings={settings}
                onChange={setSettings}
              />
              <PriceField
                label="Input price"
                name="input_per_mtok"
                settings={settings}
                onChange={setSettings}
              />
              <PriceField
                label="Output price"
                name="output_per_mtok"
                settings={settings}
                onChange={setSettings}
              />
            </div>
            <div className="mt-4 grid gap-4 sm:grid-cols-3">
              <Limit
                label="Calls a minute"
                hint="Others wait their turn."
                min={1}
                max={1_000_000}
                name="max_requests_per_minute"
                placeholder="any"
                settings={settings}
                onChange={setSettings}
              />
              <Limit
                label="Tokens a minute"
                hint="In and out together."
                min={1}
                max={1_000_000_000}
                name="max_tokens_per_minute"
                placeholder="any"
                settings={settings}
                onChange={setSettings}
              />
              <Select
                label="Tools are offered"
                hint="Small models often do better with text."
                value={settings.tool_protocol ?? "auto"}
                options={TOOL_PROTOCOLS}
                onValueChange={(value) =>
                  setSettings(without(settings, "tool_protocol", value === "auto" ? undefined : value))
                }
              />
            </div>
            <div className="mt-4 grid gap-4 sm:grid-cols-3">
              <Select
                label="Asked by"
                hint="Which of OpenAI's two protocols."
                value={settings.api ?? "auto"}
                options={APIS}
                onValueChange={(value) =>
                  setSettings(without(settings, "api", value === "auto" ? undefined : value))
                }
              />
              <Limit
                label="Context"
                hint="Tokens that a model reads at once."
                min={1_000}
                max={100_000_000}
                step={1_000}
                name="context_window"
                placeholder="known"
                settings={settings}
                onChange={setSettings}
              />
            </div>
            <div className="mt-4 grid gap-4 sm:grid-cols-3">
              {TIMES.map(({ name, label, hint }) => (
                <NumberField
                  key={name}
                  label={label}
                  hint={hint}
                  min={1}
                  max={86_400}
                  placeholder="as usual"
                  value={settings[name] === undefined ? null : settings[name] / 1000}
                  onValueChange={(seconds) =>
                    setSettings(
                      without(settings, name, seconds === null ? undefined : Math.round(seconds * 1000)),
                    )
                  }
                />
              ))}
            </div>
            <div>
              <Checkbox
                label="Runs on my own hardware"
                hint="Its calls cost nothing."
                checked={settings.local ?? isLocalServer(draft.base_url)}
                onCheckedChange={(local) => setSettings({ ...settings, local })}
              />
            </div>
          </Disclosure>
          <Disclosure look="box" title="Own headers">
            <HeaderRows headers={headers} stored={storedHeaders} onChange={setHeaders} isTried={tried} />
          </Disclosure>
          {test.data ? <TestResult result={test.data} /> : null}
          {test.error ? (
            <TestResult
              result={{ ok: false, message: toApiError(test.error).message, models: [], latency_ms: 0 }}
            />
          ) : null}
          <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
        </form>
      ) : (
        <ul className="grid gap-2 sm:grid-cols-2">
          {providerPresets.map((candidate) => (
            <li key={candidate.key} className={clsx(candidate.key === "other" && "sm:col-span-2")}>
              <button
                type="button"
                onClick={() => {
                  setPreset(candidate.key);
                  setDraft({
                    name: candidate.key === "other" ? "" : candidate.name,
                    base_url: candidate.base_url,
                    default_model: candidate.model,
                  });
                }}
                className="flex size-full flex-col rounded-lg border border-line bg-raised px-3 py-2.5 text-left hover:border-line-strong hover:bg-sunken"
              >
                <span className="font-medium">{candidate.name}</span>
                <span className="text-[13px] text-ink-2">{candidate.hint}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

/** The newest of the models that suit agents, else the first of the list. */
function suggestedModel(models: readonly string[], prefers: RegExp | undefined): string | undefined {
  const fitting = prefers ? models.filter((model) => prefers.test(model)) : [];
  return fitting.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }))[0] ?? models[0];
}

function faultsOf(draft: ProviderDraft): { name?: string; base_url?: string; default_model?: string } {
  return {
    ...(draft.name.trim() ? {} : { name: "Give it a name." }),
    ...(/^https?:\/\//.test(draft.base_url.trim()) && URL.canParse(draft.base_url.trim())
      ? {}
      : { base_url: "An address that begins with https:// or http://, usually ending in /v1." }),
    ...(draft.default_model.trim() ? {} : { default_model: "Say which model answers." }),
  };
}

function defaultConcurrency({ base_url }: ProviderDraft): number {
  return concurrencyOf({
    id: "",
    name: "",
    kind: "openai-compatible",
    base_url,
    has_key: false,
    key_hint: null,
    header_names: [],
    default_model: "",
    is_default: false,
    simulated: false,
    from_environment: false,
    settings: {},
  });
}

type Settings = ProviderListed["settings"];

function without<K extends keyof Settings>(settings: Settings, key: K, value: Settings[K]): Settings {
  const { [key]: _before, ...rest } = settings;
  return value === undefined ? rest : { ...settings, [key]: value };
}

interface SettingFieldProps<K> {
  label: string;
  name: K;
  settings: Settings;
  onChange: (settings: Settings) => void;
}

type LimitName = "max_concurrency" | "max_requests_per_minute" | "max_tokens_per_minute" | "context_window";

/** A whole number that may be left out. */
function Limit({
  name,
  settings,
  onChange,
  ...look
}: SettingFieldProps<LimitName> &
  Pick<ComponentProps<typeof NumberField>, "hint" | "min" | "max" | "step" | "placeholder">) {
  return (
    <NumberField
      {...look}
      value={settings[name] ?? null}
      onValueChange={(value) =>
        onChange(without(settings, name, value === null ? undefined : Math.round(value)))
      }
    />
  );
}

/** What a person pays for tokens of every model of the provider. */
function PriceField({
  label,
  name,
  settings,
  onChange,
}: SettingFieldProps<"input_per_mtok" | "output_per_mtok">) {
  return (
    <NumberField
      label={label}
      hint="US$ per million tokens"
      min={0}
      step={0.1}
      value={settings.prices?.["*"]?.[name] ?? null}
      placeholder="known"
      onValueChange={(value) => onChange(withPrice(settings, { [name]: value }))}
    />
  );
}

function withPrice(
  settings: Settings,
  change: { input_per_mtok?: number | null; output_per_mtok?: number | null },
): Settings {
  const before = settings.prices?.["*"];
  const input =
    change.input_per_mtok === undefined ? before?.input_per_mtok : (change.input_per_mtok ?? undefined);
  const output =
    change.output_per_mtok === undefined ? before?.output_per_mtok : (change.output_per_mtok ?? undefined);
  const { "*": _before, ...others } = settings.prices ?? {};
  if (input === undefined && output === undefined)
    return without(settings, "prices", Object.keys(others).length > 0 ? others : undefined);
  return {
    ...settings,
    prices: { ...others, "*": { ...before, input_per_mtok: input ?? 0, output_per_mtok: output ?? 0 } },
  };
}
