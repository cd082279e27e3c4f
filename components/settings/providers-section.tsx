"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { CircleCheck, PencilLine, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { providerChoice } from "@/components/forms/fields/model-choice";
import { LoadError } from "@/components/page/error-text";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Select } from "@/components/ui/input/select";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { Panel } from "@/components/ui/panel";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { Skeleton } from "@/components/ui/skeleton";
import { toast } from "@/components/ui/toasts";
import { defined } from "@/server/domain/base/defined";
import { LESSON_DAYS, lessonsOf } from "@/server/domain/model/lessons";
import { ProviderDialog, type ProviderDialogProps, type ProviderListed } from "./provider-dialog";
import { TestResult } from "./test-result";

type Editing = Pick<ProviderDialogProps, "saved" | "suggestion">;

/** The model providers: adds, edits, tests and removes them. */
export function ProvidersSection() {
  const found = useQuery(useTrpc().providers.list.queryOptions());
  const editing = useDialog((close, what: Editing) => <ProviderDialog {...what} onClose={close} />);
  const providers = found.data?.providers ?? [];
  const ollama = found.data?.ollama ?? null;
  const offersOllama =
    ollama !== null && !providers.some(({ base_url }) => base_url.includes(new URL(ollama.base_url).host));

  return (
    <Panel
      flush
      title="Models"
      description="Connect any OpenAI-compatible service, local or remote."
      actions={
        <Button
          variant="primary"
          icon={<Plus aria-hidden="true" />}
          onClick={() => editing.open({ saved: null })}
        >
          Add provider
        </Button>
      }
    >
      {found.error && !found.data ? <LoadError what="providers" queries={[found]} /> : null}
      {found.isPending ? (
        <div className="p-4">
          <Skeleton className="h-10 w-full" />
        </div>
      ) : null}
      {ollama && offersOllama ? (
        <div className="flex flex-wrap items-center gap-3 border-b border-line bg-accent-soft/50 px-4 py-3">
          <p className="min-w-0 flex-1 basis-64 text-sm">
            <span className="font-medium">Ollama is running on this machine</span>
            <span className="block text-[13px] text-ink-2">
              {ollama.models.length === 0
                ? "No models installed."
                : `${ollama.models.slice(0, 3).join(", ")}${ollama.models.length > 3 ? ` and ${ollama.models.length - 3} more` : ""}`}
            </span>
          </p>
          <Button
            onClick={() =>
              editing.open({
                saved: null,
                suggestion: {
                  name: "Ollama",
                  base_url: ollama.base_url,
                  default_model: ollama.models[0] ?? "",
                  models: ollama.models,
                },
              })
            }
          >
            Add Ollama
          </Button>
        </div>
      ) : null}
      <ul aria-label="Model providers" className="divide-y divide-line">
        {providers.map((provider) => (
          <ProviderRow
            key={provider.id}
            provider={provider}
            others={providers.filter(({ id }) => id !== provider.id)}
            onEdit={() => editing.open({ saved: provider })}
          />
        ))}
      </ul>
      {editing.dialog}
    </Panel>
  );
}

interface ProviderRowProps {
  provider: ProviderListed;
  /** Candidates for the next default. */
  others: readonly ProviderListed[];
  onEdit: () => void;
}

function ProviderRow({ provider, others, onEdit }: ProviderRowProps) {
  const trpc = useTrpc();
  const refresh = useInvalidate("providers");
  const removal = useRemoval(provider, others);
  const test = useMutation(trpc.providers.test.mutationOptions());
  const setDefault = useMutation(trpc.providers.setDefault.mutationOptions({ onSettled: refresh }));
  const { id, name, is_default, from_environment, kind } = provider;
  const canChange = !from_environment && kind !== "offline";
  return (
    <li className="flex flex-col gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <ProviderFacts provider={provider} />
        {is_default ? null : (
          <Button
            size="sm"
            variant="ghost"
            pending={setDefault.isPending}
            onClick={() => setDefault.mutate({ id })}
          >
            Make <span className="sr-only">{name} the </span>default
          </Button>
        )}
        <Button
          size="sm"
          aria-label={`Test ${name}`}
          pending={test.isPending}
          onClick={() => test.mutate({ id })}
        >
          Test
        </Button>
        {canChange ? (
          <MoreMenu
            label={`Actions for ${name}`}
            size="sm"
            items={[
              { label: "Edit", icon: <PencilLine />, onSelect: onEdit },
              ...(is_default
                ? []
                : [
                    {
                      label: "Make default",
                      icon: <CircleCheck />,
                      onSelect: () => setDefault.mutate({ id }),
                    },
                  ]),
              "separator",
              { label: "Remove", icon: <Trash2 />, danger: true, onSelect: removal.open },
            ]}
          />
        ) : null}
      </div>
      <Lessons provider={provider} />
      <TestResult test={test} />
      {removal.dialog}
    </li>
  );
}

function ProviderFacts({ provider }: { provider: ProviderListed }) {
  return (
    <div className="min-w-0 flex-1 basis-56">
      <p className="flex flex-wrap items-center gap-2 font-medium">
        {provider.name}
        {provider.is_default ? <Badge tone="accent">Default</Badge> : null}
        {provider.from_environment ? <Badge>From environment</Badge> : null}
        {provider.simulated ? <SimulatedBadge /> : null}
      </p>
      <p className="truncate text-[13px] text-ink-2">
        {provider.simulated ? (
          "Scripted responses for trying things out. Works offline."
        ) : (
          <>
            <span className="font-mono text-xs">{provider.default_model}</span> at {hostOf(provider.base_url)}
            ,{" "}
            {provider.has_key
              ? provider.key_hint
                ? `key ends in ${provider.key_hint}`
                : "has a key"
              : "no key"}
          </>
        )}
      </p>
      {provider.is_damaged ? (
        <p className="text-[13px] text-failed">
          Disabled: the stored settings can't be read. Edit the provider and save it again.
        </p>
      ) : null}
    </div>
  );
}

/** Asks for confirmation before removing a provider, and for the next default. */
function useRemoval({ id, name, is_default }: ProviderListed, others: readonly ProviderListed[]) {
  const refresh = useInvalidate("providers");
  const [next, setNext] = useState<string | null>(null);
  const remove = useMutation(
    useTrpc().providers.remove.mutationOptions({
      onSuccess: () => toast(`Removed “${name}”`),
      onSettled: () => void refresh(),
    }),
  );
  const following = others.find((other) => other.id === next) ?? others[0];
  return useConfirm({
    danger: true,
    title: `Remove “${name}”?`,
    description: "Deletes its key. Nodes that use it won't run until you choose another provider.",
    confirm: "Remove provider",
    onConfirm: () => remove.mutateAsync(defined({ id, next: is_default ? following?.id : undefined })),
    children:
      is_default && following ? (
        <Select
          label="New default"
          hint="Used when no provider is set"
          options={others.map(providerChoice)}
          value={following.id}
          onValueChange={setNext}
        />
      ) : null,
  });
}

/** Learned limitations of the provider's models. Troupe tries again what is forgotten. */
function Lessons({ provider }: { provider: ProviderListed }) {
  const refresh = useInvalidate("providers");
  const [now] = useState(Date.now);
  const forget = useMutation(useTrpc().providers.forget.mutationOptions({ onSettled: refresh }));
  const lessons = Object.entries(provider.settings.capabilities ?? {}).flatMap(([model, capability]) =>
    lessonsOf(capability, now).map((lesson) => ({ model, ...lesson })),
  );
  if (lessons.length === 0) return null;
  return (
    <details className="text-[13px]">
      <summary className="cursor-pointer text-ink-2">
        {lessons.length === 1 ? "1 model setting" : `${lessons.length} model settings`} detected
      </summary>
      <ul aria-label={`Detected for ${provider.name}`} className="mt-1 flex flex-col gap-1">
        {lessons.map(({ model, key, text, learned_at }) => (
          <li key={`${model} ${key}`} className="flex flex-wrap items-center gap-x-3">
            <span className="min-w-0 flex-1 basis-64">
              <span className="font-mono text-xs">{model}</span>: {text}{" "}
              <span className="text-ink-3">
                {learned_at === undefined
                  ? "Detected by a test."
                  : `Detected on ${new Date(learned_at).toLocaleDateString("en-GB")}; rechecked after ${LESSON_DAYS} days.`}
              </span>
            </span>
            <Button
              size="sm"
              variant="ghost"
              className="-ml-2.5 sm:ml-0"
              aria-label={`Forget for ${model}: ${text}`}
              pending={
                forget.isPending && forget.variables.lesson === key && forget.variables.model === model
              }
              onClick={() => forget.mutate({ id: provider.id, model, lesson: key })}
            >
              Forget
            </Button>
          </li>
        ))}
      </ul>
    </details>
  );
}

const hostOf = (address: string) => (URL.canParse(address) ? new URL(address).host : address);
