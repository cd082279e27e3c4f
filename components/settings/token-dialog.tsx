"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { FormParts } from "@/components/forms/form-parts";
import { SecretDialog } from "@/components/forms/secret-dialog";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { TextField } from "@/components/ui/input/text-field";
import { choicesOf, type FormPart } from "@/server/domain/base/form";
import { SCOPES, type Scope } from "@/server/domain/base/scopes";

interface Draft {
  name: string;
  scopes: Scope[];
  isForAll: boolean;
  workflows: string[];
  expiry: "never" | "30" | "90" | "365" | "date";
  /** As in "2030-12-31". */
  date: string;
  isTrusted: boolean;
}

const PRESETS: Readonly<Record<string, readonly Scope[]>> = {
  "Run only": ["read", "run"],
  "Full access": SCOPES,
};

const NEW_TOKEN: Draft = {
  name: "",
  scopes: ["read", "run"],
  isForAll: true,
  workflows: [],
  expiry: "90",
  date: "",
  isTrusted: false,
};

const FORM: readonly FormPart<Draft, "presets" | "date">[] = [
  {
    key: "name",
    label: "Name",
    as: "text",
    empty: "",
    longest: 80,
    placeholder: "Nightly report",
    hint: "What this token is for",
  },
  {
    key: "scopes",
    label: "Scopes",
    as: "several",
    empty: [],
    options: choicesOf<Scope>({
      read: { label: "Read", hint: "See workflows, runs, memories and the library" },
      run: { label: "Run", hint: "Start, steer, fork and test runs" },
      answer: { label: "Answer", hint: "Answer the questions of runs" },
      author: { label: "Author", hint: "Change workflows, roles, crews and agents" },
      admin: { label: "Admin", hint: "Change settings, delete permanently" },
    }),
  },
  { slot: "presets" },
  {
    key: "isForAll",
    label: "All workflows",
    as: "switch",
    empty: false,
    hint: "Otherwise, the rest of the library is read-only",
  },
  { key: "workflows", label: "Workflows", as: "several", empty: [], showIf: ({ isForAll }) => !isForAll },
  {
    key: "expiry",
    label: "Expires",
    as: "choice",
    options: choicesOf({
      "30": "In 30 days",
      "90": "In 90 days",
      "365": "In 1 year",
      date: "On a date",
      never: "Never",
    }),
  },
  { slot: "date", showIf: ({ expiry }) => expiry === "date" },
  {
    key: "isTrusted",
    label: "Trusted input",
    as: "check",
    hint: "Input sent with this token counts as your own words",
  },
];

const DAY_MS = 24 * 3_600_000;

/** When it expires, in Unix milliseconds; undefined: never. */
function expiryOf({ expiry, date }: Draft): number | undefined {
  if (expiry === "never") return undefined;
  // The whole day, where the browser is.
  return expiry === "date" ? Date.parse(`${date}T23:59:59`) : Date.now() + Number(expiry) * DAY_MS;
}

/** Creates a token, then shows it once. */
export function TokenDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTrpc();
  const [draft, setDraft] = useState(NEW_TOKEN);
  const workflows = useQuery(trpc.workflows.list.queryOptions());
  const create = useMutation(trpc.access.createToken.mutationOptions({ onError: () => {} }));
  const { name, scopes, isForAll, expiry, date, isTrusted } = draft;
  const token = create.data?.token;
  if (token)
    return (
      <SecretDialog
        what="token"
        secret={token}
        description={`It can ${listed(scopes)}${isForAll ? "" : " in the chosen workflows"}.`}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title="Create token"
      submit="Create token"
      isIncomplete={
        !name.trim() ||
        scopes.length === 0 ||
        (!isForAll && draft.workflows.length === 0) ||
        (expiry === "date" && date === "")
      }
      mutation={create}
      onSubmit={() => {
        const expires_at = expiryOf(draft);
        create.mutate({
          ...{ name: name.trim(), scopes, is_trusted: isTrusted },
          ...(isForAll ? {} : { workflows: draft.workflows }),
          ...(expires_at === undefined ? {} : { expires_at }),
        });
      }}
      onClose={onClose}
    >
      <FormParts
        parts={FORM}
        value={draft}
        onChange={setDraft}
        now={{
          workflows: { options: (workflows.data ?? []).map((one) => ({ value: one.id, label: one.name })) },
        }}
        slots={{
          presets: (
            <div className="-mt-2 flex gap-2">
              {Object.entries(PRESETS).map(([label, preset]) => (
                <Button key={label} size="sm" onClick={() => setDraft({ ...draft, scopes: [...preset] })}>
                  {label}
                </Button>
              ))}
            </div>
          ),
          date: (
            <TextField
              type="date"
              label="Last day"
              value={date}
              onValueChange={(next) => setDraft({ ...draft, date: next })}
            />
          ),
        }}
      />
    </FormDialog>
  );
}

/** "read, run and answer" */
const listed = (scopes: readonly string[]): string =>
  new Intl.ListFormat("en-US", { type: "conjunction" }).format(scopes);
