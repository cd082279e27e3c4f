"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorText } from "@/components/page/error-text";
import { type Answers, useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/input/form";
import { Select } from "@/components/ui/input/select";
import { TextField } from "@/components/ui/input/text-field";
import { Panel } from "@/components/ui/panel";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { Skeleton } from "@/components/ui/skeleton";
import { toast } from "@/components/ui/toasts";
import { defined } from "@/server/domain/base/defined";
import { keysOf } from "@/server/domain/base/guards";
import { SEARCH_SERVICES } from "@/server/domain/tool/search-backend";
import { Sheet } from "./tool-detail";

type Setting = Answers["toolSettings"]["list"]["searches"][number];
type Kind = keyof typeof SEARCH_SERVICES;

const NAMES: Record<Kind, { label: string; hint: string }> = {
  searxng: { label: "SearXNG", hint: "Self-hosted search server" },
  brave: { label: "Brave Search", hint: "Needs a key" },
  github: { label: "GitHub", hint: "Needs a token" },
};
const PURPOSES = {
  web: { title: "Web search", about: "Used by the web_search tool." },
  code: { title: "Code search", about: "Used by the code_search tool." },
} as const;

/** Sets up the services of the search tools. */
export function SearchServices() {
  const settings = useQuery(useTrpc().toolSettings.list.queryOptions());
  return (
    <Sheet name="Search services" isPlace>
      <p className="max-w-2xl text-ink-2">
        Web and code search require a search service, which receives agents' queries.
      </p>
      {settings.data ? (
        settings.data.searches.map((setting) => (
          <ServiceForm key={`${setting.purpose} ${setting.kind} ${setting.base_url}`} setting={setting} />
        ))
      ) : settings.error ? (
        <ErrorText error={settings.error} />
      ) : (
        <Skeleton className="h-40 w-full" />
      )}
    </Sheet>
  );
}

function ServiceForm({ setting }: { setting: Setting }) {
  const isSet = setting.kind !== null && setting.kind !== "demo";
  const offered = keysOf(SEARCH_SERVICES).filter((kind) => SEARCH_SERVICES[kind].purpose === setting.purpose);
  const [kind, setKind] = useState<Kind | null>(setting.kind === "demo" ? null : (setting.kind ?? null));
  const [address, setAddress] = useState(isSet ? setting.base_url : "");
  const [key, setKey] = useState("");
  const save = useSave(() => setKey(""));
  const { title, about } = PURPOSES[setting.purpose];
  const standard = kind ? SEARCH_SERVICES[kind].base_url : "";
  return (
    <Panel
      title={title}
      description={about}
      actions={setting.kind === "demo" ? <SimulatedBadge /> : undefined}
    >
      <Form
        aria-label={title}
        onSubmit={() => {
          if (kind)
            save.mutate(
              defined({
                purpose: setting.purpose,
                kind,
                base_url: address.trim(),
                key: key.trim() || undefined,
              }),
            );
        }}
      >
        {isSet ? null : (
          <p className="text-[13px] text-ink-2">
            {setting.kind === "demo"
              ? "The offline demo returns made-up results from a few bundled documents. Choose a service for real searches."
              : "No search service is connected, so the tool can't search. Choose a service."}
          </p>
        )}
        <Select
          label="Service"
          options={offered.map((value) => ({ value, ...NAMES[value] }))}
          value={kind}
          onValueChange={setKind}
          placeholder="Choose a service…"
          fieldClassName="max-w-sm"
        />
        {kind ? (
          <>
            <TextField
              label="URL"
              inputMode="url"
              value={address}
              onValueChange={setAddress}
              placeholder={standard || "https://search.example.com"}
              aside={standard ? "Optional" : undefined}
              fieldClassName="max-w-sm"
            />
            {SEARCH_SERVICES[kind].needs_key ? (
              <TextField
                label={kind === "github" ? "Token" : "Key"}
                type="password"
                value={key}
                onValueChange={setKey}
                placeholder={storedKey(setting)}
                hint="Stored encrypted and sent only to this URL"
                fieldClassName="max-w-sm"
              />
            ) : null}
          </>
        ) : null}
        <ErrorText error={save.error} />
        <div className="flex gap-2">
          <Button type="submit" disabled={!kind} pending={save.isPending}>
            Save
          </Button>
          {isSet ? <StopButton purpose={setting.purpose} /> : null}
        </div>
      </Form>
    </Panel>
  );
}

function useSave(onSaved: () => void) {
  const invalidate = useInvalidate("toolSettings", "tools");
  return useMutation(
    useTrpc().toolSettings.save.mutationOptions({
      onError: () => {},
      onSuccess: ({ needs_key }) => {
        onSaved();
        void invalidate();
        toast(needs_key ? "Saved. Add a key to use it." : "Saved", {
          tone: needs_key ? "plain" : "success",
        });
      },
    }),
  );
}

function StopButton({ purpose }: Pick<Setting, "purpose">) {
  const invalidate = useInvalidate("toolSettings", "tools");
  const remove = useMutation(useTrpc().toolSettings.remove.mutationOptions({ onSuccess: invalidate }));
  return (
    <Button variant="ghost" pending={remove.isPending} onClick={() => remove.mutate({ purpose })}>
      Remove
    </Button>
  );
}

function storedKey({ has_key, key_hint }: Setting): string {
  if (!has_key) return "";
  return key_hint ? `Stored, ends in ${key_hint}` : "Stored";
}
