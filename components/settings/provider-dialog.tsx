"use client";

import { useMutation } from "@tanstack/react-query";
import clsx from "clsx";
import { useState } from "react";
import { countOf } from "@/components/display/format";
import { FormParts } from "@/components/forms/form-parts";
import { type Answers, useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/input/form";
import { Dialog } from "@/components/ui/overlay/dialog";
import { toast } from "@/components/ui/toasts";
import { defined } from "@/server/domain/base/defined";
import { concurrencyOf } from "@/server/domain/model/provider";
import {
  PROVIDER_FORM,
  type ProviderDraft,
  providerErrors,
  providerLimits,
  providerSettings,
} from "@/server/domain/model/provider-form";
import { areHeadersFine, type HeaderDraft, HeaderRows } from "./header-rows";
import { type ProviderPreset, providerPresets } from "./provider-presets";
import { TestResult } from "./test-result";

export type ProviderListed = Answers["providers"]["list"]["providers"][number];

export interface ProviderDialogProps {
  /** Null for a new provider. */
  saved: ProviderListed | null;
  /** Initial values of a new provider, such as an Ollama that was found. */
  suggestion?: Pick<ProviderDraft, "name" | "base_url" | "default_model"> & { models?: readonly string[] };
  onClose: () => void;
}

/** Adds or changes a model provider. Its key is never shown again. */
export function ProviderDialog(props: ProviderDialogProps) {
  const { saved, onClose } = props;
  const form = useProviderForm(props);
  const { chosen } = form;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      sticky
      title={saved ? `Edit “${saved.name}”` : "Add model provider"}
      description={chosen || saved ? undefined : "Choose a model provider"}
      footer={
        chosen ? (
          <>
            <Button pending={form.test.isPending} onClick={form.tryOut} className="mr-auto">
              Test
            </Button>
            <Button onClick={onClose}>Cancel</Button>
            <Button variant="primary" pending={form.isSaving} onClick={form.submit}>
              {saved ? "Save" : "Add provider"}
            </Button>
          </>
        ) : null
      }
    >
      {chosen ? <ProviderFields form={form} chosen={chosen} /> : <ProviderChoice onChoose={form.choose} />}
    </Dialog>
  );
}

function useProviderForm({ saved, suggestion, onClose }: ProviderDialogProps) {
  const [preset, setPreset] = useState<string | null>(saved || suggestion ? "other" : null);
  const [draft, setDraft] = useState<ProviderDraft>(() => startOf(saved, suggestion));
  const [dropsKey, setDropsKey] = useState(false);
  const [headers, setHeaders] = useState<HeaderDraft[]>(
    () => saved?.header_names.map((name) => ({ name })) ?? [],
  );
  const [wasTried, setTried] = useState(false);
  const chosen = providerPresets.find((candidate) => candidate.key === preset);
  const written = { saved, draft, dropsKey, headers };
  const { test, runTest } = useTest(written, (models) => {
    const model = draft.default_model.trim() === "" ? suggestedModel(models, chosen?.prefers) : undefined;
    if (model !== undefined) setDraft((now) => ({ ...now, default_model: model }));
  });
  const save = useSave(written, onClose);
  const errors = providerErrors(draft);
  return {
    ...{ chosen, written, wasTried, test, setHeaders, setDropsKey, isSaving: save.isPending },
    errors: wasTried ? errors : {},
    models: test.data?.models.length ? test.data.models : (suggestion?.models ?? []),
    choose({ key, name, base_url, model }: ProviderPreset) {
      setPreset(key);
      setDraft({ ...draft, name: key === "other" ? "" : name, base_url, default_model: model });
    },
    change(next: ProviderDraft) {
      setDraft(next);
      if (next.key !== draft.key) setDropsKey(false);
      if (IS_TESTED.some((key) => next[key] !== draft[key])) test.reset();
    },
    tryOut() {
      setTried(true);
      if (!errors.base_url) runTest();
    },
    submit() {
      setTried(true);
      if (Object.keys(errors).length === 0 && areHeadersFine(headers, sendingOf(written).storedHeaders))
        save.submit();
    },
  };
}

function ProviderFields({
  form,
  chosen,
}: {
  form: ReturnType<typeof useProviderForm>;
  chosen: ProviderPreset;
}) {
  const { written, wasTried, errors, models, test } = form;
  const { saved, draft, dropsKey, headers } = written;
  const { hasBaseUrlChanged, storedHeaders } = sendingOf(written);
  return (
    <Form aria-label="Model provider" onSubmit={form.submit}>
      <FormParts
        parts={PROVIDER_FORM}
        value={draft}
        onChange={form.change}
        now={{
          name: { error: errors.name },
          base_url: {
            error: errors.base_url,
            hint: hasBaseUrlChanged && saved?.has_key && !draft.key ? KEY_IS_DROPPED : undefined,
          },
          key: {
            hint: chosen.needs_key
              ? "Stored encrypted, sent only to this URL, never shown again."
              : "If the server requires one. Stored encrypted, never shown again.",
            placeholder: saved?.has_key && !dropsKey ? storedLabel(saved.key_hint) : "",
            aside:
              saved?.has_key && !draft.key ? (
                <button
                  type="button"
                  className="text-[13px] text-accent"
                  onClick={() => form.setDropsKey(!dropsKey)}
                >
                  {dropsKey ? "Keep stored key" : "Remove stored key"}
                </button>
              ) : undefined,
          },
          default_model: {
            error: errors.default_model,
            suggestions: models,
            hint: models.length > 0 ? `${countOf(models.length, "model")}. Type to search.` : undefined,
          },
          is_default: { isDisabled: saved?.is_default },
          max_concurrency: { placeholder: String(usualConcurrency(draft)) },
        }}
        slots={{
          headers: (
            <HeaderRows
              headers={headers}
              stored={storedHeaders}
              onChange={form.setHeaders}
              isTried={wasTried}
            />
          ),
        }}
      />
      <TestResult test={test} />
      <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
    </Form>
  );
}

/** A change to one of these makes the test result obsolete. */
const IS_TESTED = ["name", "base_url", "key", "default_model"] as const;
const KEY_IS_DROPPED =
  "The stored key is for the old URL and will be removed. Enter the key for the new URL.";

const storedLabel = (ending: string | null) => (ending ? `Stored, ends in ${ending}` : "Stored");
const usualConcurrency = ({ base_url }: ProviderDraft) =>
  concurrencyOf({ kind: "openai-compatible", base_url, settings: {} });

function startOf(saved: ProviderListed | null, suggestion: ProviderDialogProps["suggestion"]): ProviderDraft {
  const { name, base_url, default_model } = saved ??
    suggestion ?? { name: "", base_url: "", default_model: "" };
  const is_default = saved ? saved.is_default : true;
  return { name, base_url, default_model, key: "", is_default, ...providerLimits(saved?.settings ?? {}) };
}

/** The content of the form, and the provider that it edits. */
interface Written {
  saved: ProviderListed | null;
  draft: ProviderDraft;
  dropsKey: boolean;
  headers: readonly HeaderDraft[];
}

/** Which key and headers to send. Stored ones belong to their base URL and are dropped if it changes. */
function sendingOf({ saved, draft, dropsKey, headers }: Written) {
  const hasBaseUrlChanged =
    saved !== null && saved.base_url !== draft.base_url.trim().replace(/(?<!\/)\/+$/, "");
  const storedHeaders = saved && !hasBaseUrlChanged ? saved.header_names : [];
  const haveHeadersChanged =
    headers.some(({ value }) => value !== undefined) || headers.length !== storedHeaders.length;
  return {
    hasBaseUrlChanged,
    storedHeaders,
    key: draft.key.trim() || (dropsKey ? null : undefined),
    headers: haveHeadersChanged
      ? headers.map(({ name, value }) => (value ? { name, value } : { name }))
      : undefined,
  };
}

/** Tests the content of the form, or the stored provider if its connection is unchanged. */
function useTest(written: Written, onModels: (models: readonly string[]) => void) {
  const trpc = useTrpc();
  const test = useMutation(
    trpc.providers.test.mutationOptions({ onSuccess: ({ models }) => onModels(models) }),
  );
  const { saved, draft } = written;
  const { hasBaseUrlChanged, key, headers } = sendingOf(written);
  const default_model = draft.default_model.trim();
  const runTest = () =>
    test.mutate(
      saved && !hasBaseUrlChanged && key === undefined && headers === undefined
        ? { id: saved.id, default_model }
        : defined({
            base_url: draft.base_url.trim(),
            id: hasBaseUrlChanged ? undefined : saved?.id,
            key: key || undefined,
            headers,
            default_model: default_model || undefined,
          }),
    );
  return { test, runTest };
}

function useSave(written: Written, onClose: () => void) {
  const trpc = useTrpc();
  const invalidate = useInvalidate("providers");
  const { saved, draft } = written;
  const makeDefault = useMutation(trpc.providers.setDefault.mutationOptions());
  const save = useMutation(
    trpc.providers.save.mutationOptions({
      onSuccess: async ({ id }) => {
        if (draft.is_default) await makeDefault.mutateAsync({ id });
        await invalidate();
        onClose();
        toast(`Saved “${draft.name.trim()}”`, { tone: "success" });
      },
    }),
  );
  const submit = () => {
    const { key, headers } = sendingOf(written);
    save.mutate(
      defined({
        id: saved?.id,
        name: draft.name.trim(),
        base_url: draft.base_url.trim(),
        default_model: draft.default_model.trim(),
        key,
        headers,
        settings: providerSettings(saved?.settings ?? {}, draft),
      }),
    );
  };
  return { submit, isPending: save.isPending || makeDefault.isPending };
}

function ProviderChoice({ onChoose }: { onChoose: (preset: ProviderPreset) => void }) {
  return (
    <ul className="grid gap-2 sm:grid-cols-2">
      {providerPresets.map((preset) => (
        <li key={preset.key} className={clsx(preset.key === "other" && "sm:col-span-2")}>
          <button
            type="button"
            onClick={() => onChoose(preset)}
            className="flex size-full flex-col rounded-lg border border-line bg-raised px-3 py-2.5 text-left hover:border-line-strong hover:bg-sunken"
          >
            <span className="font-medium">{preset.name}</span>
            <span className="text-[13px] text-ink-2">{preset.hint}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The newest preferred model, else the first one. */
function suggestedModel(models: readonly string[], prefers: RegExp | undefined): string | undefined {
  const fitting = prefers ? models.filter((model) => prefers.test(model)) : [];
  return fitting.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }))[0] ?? models[0];
}
