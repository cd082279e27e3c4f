"use client";

import { useMutation } from "@tanstack/react-query";
import { ErrorText } from "@/components/page/error-text";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/overlay/confirm-dialog";
import { toast } from "@/components/ui/toasts";
import type { McpListed } from "./mcp-word-text";

/** The OAuth access to a server: its state, signing in and signing out. */
export function McpSignIn({ server }: { server: McpListed }) {
  const trpc = useTrpc();
  const onSettled = useInvalidate("mcp", "tools");
  const begin = useMutation(trpc.mcp.beginSignIn.mutationOptions({ onError: () => {} }));
  const signOut = useMutation(
    trpc.mcp.signOut.mutationOptions({
      onSettled,
      onError: () => {},
      onSuccess: ({ name, still_good }) =>
        toast(`Signed out of “${name}”${still_good === null ? "" : `. ${still_good}`}`, {
          tone: still_good === null ? "success" : "plain",
        }),
    }),
  );
  const access = server.sign_in;
  if (!access || server.from_file || server.has_authorization) return null;
  const isIn = access.state === "signed_in";
  const wants = server.state === "needs_sign_in" || (isIn && access.wants_more !== null);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span className="min-w-0 [overflow-wrap:anywhere]">{describeSignIn(access)}</span>
        {server.is_enabled && !access.as_program ? (
          <Button
            size="sm"
            variant={wants ? "primary" : "secondary"}
            aria-label={`Sign in to ${server.name}${isIn ? " again" : ""}`}
            pending={begin.isPending}
            onClick={() => begin.mutate({ name: server.name, origin: window.location.origin })}
          >
            {isIn ? "Sign in again" : "Sign in"}
          </Button>
        ) : null}
        {isIn && !access.as_program ? (
          <Button
            size="sm"
            variant="ghost"
            aria-label={`Sign out of ${server.name}`}
            pending={signOut.isPending}
            onClick={() => signOut.mutate({ name: server.name })}
          >
            Sign out
          </Button>
        ) : null}
      </div>
      <ErrorText error={begin.error ?? signOut.error} />
      <LeaveDialog name={server.name} to={begin.data} onCancel={begin.reset} />
    </>
  );
}

/** Asks for confirmation before leaving for the authorization server. */
function LeaveDialog({
  name,
  to,
  onCancel,
}: {
  name: string;
  to: { host: string; scope: string | null; url: string } | undefined;
  onCancel: () => void;
}) {
  return (
    <ConfirmDialog
      open={to !== undefined}
      onOpenChange={onCancel}
      title={`Sign in at ${to?.host ?? ""}?`}
      description={`“${name}” uses this site to sign in. Make sure you trust it. Afterward, you return to Troupe.`}
      confirm="Continue"
      onConfirm={() => {
        if (to) window.location.assign(to.url);
      }}
    >
      {to?.scope ? (
        <p className="text-sm text-ink-2 [overflow-wrap:anywhere]">
          Troupe requests: <span className="font-mono text-xs">{to.scope}</span>
        </p>
      ) : null}
    </ConfirmDialog>
  );
}

/** The state of the access, in one line. */
export function describeSignIn(access: NonNullable<McpListed["sign_in"]>, now = Date.now()): string {
  if (access.as_program)
    return `Client ${access.client_id ?? ""} (client credentials)${access.state === "none" ? "; no access granted yet" : ""}`;
  if (access.state === "none")
    return access.client_id === null ? "Not signed in" : `Not signed in (client ${access.client_id})`;
  const until =
    access.until === null
      ? ""
      : access.renews
        ? ", renewed automatically"
        : access.until <= now
          ? ", expired"
          : ` until ${new Date(access.until).toLocaleString()}`;
  const more = access.wants_more === null ? "" : `. The server requests more scopes: ${access.wants_more}`;
  return `Signed in at ${access.host ?? "the server"}${until}${more}`;
}
