"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { z } from "zod";
import { type Answers, useInvalidate, useTrpc } from "@/components/trpc";
import type { FormPart } from "@/server/domain/base/form";
import { SecretHosts, SecretName, SecretValue } from "@/server/domain/tool/secret-schemas";
import { fieldErrors } from "./field-errors";
import { FormDialog } from "./form-dialog";
import { FormParts } from "./form-parts";

export type ListedSecret = Answers["secrets"]["list"][number];

interface Draft {
  name: string;
  value: string;
  hosts: string;
  isForAll: boolean;
  workflows: string[];
}

const NAME_FIELD: FormPart<Draft> = {
  key: "name",
  label: "Name",
  as: "text",
  isMono: true,
  empty: "",
  placeholder: "GITHUB_TOKEN",
};

const FORM: readonly FormPart<Draft>[] = [
  {
    key: "value",
    label: "Value",
    as: "secret",
    empty: "",
    hint: "Stored encrypted and never shown again",
  },
  {
    key: "hosts",
    label: "Hosts",
    as: "text",
    empty: "",
    placeholder: "api.example.com, *.example.org",
    hint: "Sent to these hosts only. To add one, enter the value again.",
  },
  { key: "isForAll", label: "All workflows", as: "switch", empty: false },
  {
    key: "workflows",
    label: "Workflows",
    as: "several",
    empty: [],
    showIf: ({ isForAll }) => !isForAll,
  },
];

/** Adds or changes a secret. `start`: prefilled values of a new one. */
export function SecretForm({
  saved,
  start,
  onSaved,
  onClose,
}: {
  saved: ListedSecret | null;
  start?: Partial<Draft>;
  onSaved?: (name: string) => void;
  onClose: () => void;
}) {
  const trpc = useTrpc();
  const refresh = useInvalidate("secrets");
  const workflows = useQuery(trpc.workflows.list.queryOptions());
  const [draft, setDraft] = useState<Draft>(() => ({
    name: "",
    value: "",
    hosts: saved?.hosts.join(", ") ?? "",
    isForAll: saved === null || saved.workflows === null,
    workflows: saved?.workflows ?? [],
    ...start,
  }));
  const [wasTried, setTried] = useState(false);
  const done = async () => {
    await refresh();
    onSaved?.(draft.name);
    onClose();
  };
  const create = useMutation(trpc.secrets.create.mutationOptions({ onSuccess: done }));
  const change = useMutation(trpc.secrets.change.mutationOptions({ onSuccess: done }));
  const entered = {
    name: saved?.name ?? draft.name,
    value: draft.value,
    hosts: draft.hosts.split(/[\s,;]+/).filter(Boolean),
    workflows: draft.isForAll ? null : draft.workflows,
  };
  const errors = fieldErrors(saved && draft.value === "" ? Entered.omit({ value: true }) : Entered, entered);
  return (
    <FormDialog
      title={saved ? `Edit “${saved.name}”` : "Add secret"}
      submit={saved ? "Save" : "Add secret"}
      sticky
      mutation={saved ? change : create}
      onSubmit={() => {
        setTried(true);
        if (Object.keys(errors).length > 0) return;
        const { value, ...rest } = entered;
        if (!saved) create.mutate(entered);
        else change.mutate({ ...rest, ...(value === "" ? {} : { value }) });
      }}
      onClose={onClose}
    >
      <FormParts
        parts={saved ? FORM : [NAME_FIELD, ...FORM]}
        value={draft}
        onChange={setDraft}
        now={{
          value: { placeholder: saved ? `Unchanged${saved.hint ? `, ends in ${saved.hint}` : ""}` : "" },
          workflows: { options: (workflows.data ?? []).map(({ id, name }) => ({ value: id, label: name })) },
        }}
        errors={wasTried ? errors : undefined}
      />
    </FormDialog>
  );
}

const Entered = z.object({ name: SecretName, value: SecretValue, hosts: SecretHosts });
