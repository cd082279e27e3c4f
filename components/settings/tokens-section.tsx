"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type Answers, toApiError, useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { Panel } from "@/components/ui/panel";
import { TimeText } from "@/components/ui/time-text";
import { toast } from "@/components/ui/toasts";
import { SCOPES } from "@/server/domain/base/scopes";
import { TokenDialog } from "./token-dialog";

type Token = Answers["access"]["tokens"][number];

/** Creates and revokes tokens for the HTTP API. A token is shown only once. */
export function TokensSection({ apiBase }: { apiBase: string | undefined }) {
  const trpc = useTrpc();
  const refresh = useInvalidate("access");
  const tokens = useQuery(trpc.access.tokens.queryOptions());
  const creation = useDialog((close) => (
    <TokenDialog
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
        <span className="block text-[13px] text-ink-2">{rightsOf(token)}</span>
      </span>
      <Button size="sm" variant="ghost" aria-label={`Revoke ${token.name}`} onClick={revocation.open}>
        Revoke
      </Button>
      {revocation.dialog}
    </li>
  );
}

/** "Read, run; 2 workflows; trusted input; expires on 31 Dec 2030" */
function rightsOf({ scopes, workflows, expires_at, is_trusted }: Token): string {
  const date = new Date(expires_at ?? 0).toLocaleDateString("en-GB", { dateStyle: "medium" });
  const names = scopes.join(", ");
  return [
    scopes.length === SCOPES.length ? "Full access" : `${names.charAt(0).toUpperCase()}${names.slice(1)}`,
    ...(workflows === null ? [] : [workflows.length === 1 ? "1 workflow" : `${workflows.length} workflows`]),
    ...(is_trusted ? ["trusted input"] : []),
    expires_at === null ? "never expires" : `${expires_at <= Date.now() ? "expired" : "expires"} on ${date}`,
  ].join("; ");
}
