"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { type Answers, toApiError, useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { TextField } from "@/components/ui/input/text-field";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { Panel } from "@/components/ui/panel";
import { TimeText } from "@/components/ui/time-text";
import { toast } from "@/components/ui/toasts";
import { SecretDialog } from "./secret-dialog";

type Token = Answers["access"]["tokens"][number];

/** Creates and revokes tokens for the HTTP API. A token is shown only once. */
export function TokensSection({ apiBase }: { apiBase: string | undefined }) {
  const trpc = useTrpc();
  const refresh = useInvalidate("access");
  const tokens = useQuery(trpc.access.tokens.queryOptions());
  const creation = useDialog((close) => (
    <CreateToken
      onClose={() => {
        close();
        void refresh();
      }}
    />
  ));
  return (
    <Panel
      flush
      title="API tokens"
      description={
        <>
          For scripts and apps that use the API
          {apiBase ? (
            <>
              {" "}
              at <span className="font-mono text-xs">{apiBase}</span>
            </>
          ) : null}
          .
        </>
      }
      actions={
        <Button icon={<Plus aria-hidden="true" />} onClick={creation.open}>
          Create token
        </Button>
      }
    >
      {tokens.error ? (
        <p className="p-4 text-[13px] text-failed">{toApiError(tokens.error).message}</p>
      ) : tokens.data?.length ? (
        <ul aria-label="API tokens" className="divide-y divide-line">
          {tokens.data.map((token) => (
            <TokenRow key={token.id} token={token} />
          ))}
        </ul>
      ) : (
        <p className="px-4 py-4 text-[13px] text-ink-2">{tokens.isPending ? "Loading…" : "No tokens yet."}</p>
      )}
      {creation.dialog}
    </Panel>
  );
}

function TokenRow({ token }: { token: Token }) {
  const refresh = useInvalidate("access");
  const revoke = useMutation(
    useTrpc().access.revokeToken.mutationOptions({
      onSuccess: () => toast("Revoked the token"),
      onSettled: () => void refresh(),
    }),
  );
  const revocation = useConfirm({
    danger: true,
    title: `Revoke “${token.name}”?`,
    description: "Scripts and apps that use it lose access immediately.",
    confirm: "Revoke token",
    onConfirm: () => revoke.mutateAsync({ id: token.id }),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3">
      <span className="min-w-0 flex-1 basis-40">
        <span className="block truncate font-medium">{token.name}</span>
        <span className="block text-[13px] text-ink-2">
          <span className="font-mono text-xs">wf_…{token.hint}</span>, created{" "}
          <TimeText at={token.created_at} />
          {token.last_used_at ? (
            <>
              , last used <TimeText at={token.last_used_at} />
            </>
          ) : (
            ", never used"
          )}
        </span>
      </span>
      <Button size="sm" variant="ghost" aria-label={`Revoke ${token.name}`} onClick={revocation.open}>
        Revoke
      </Button>
      {revocation.dialog}
    </li>
  );
}

function CreateToken({ onClose }: { onClose: () => void }) {
  const trpc = useTrpc();
  const [name, setName] = useState("");
  const create = useMutation(trpc.access.createToken.mutationOptions({ onError: () => {} }));
  const token = create.data?.token;
  if (token)
    return (
      <SecretDialog
        what="token"
        secret={token}
        description="It grants full access: read, change and run everything."
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title="Create token"
      submit="Create token"
      isIncomplete={!name.trim()}
      mutation={create}
      onSubmit={() => create.mutate({ name: name.trim() })}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onValueChange={setName}
        maxLength={80}
        placeholder="Nightly report"
        hint="What this token is for"
      />
    </FormDialog>
  );
}
