"use client";

import { useMutation } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useRouter, useSearchParams } from "next/navigation";
import { useEffect, useRef } from "react";
import { toApiError, useInvalidate, useTrpc } from "@/components/trpc";
import { ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { toast } from "@/components/ui/toasts";

const FIELDS = ["code", "iss", "error", "error_description"] as const;

/** Finishes signing in to an MCP server with the parameters of the redirect. */
export function SignInReturn() {
  const trpc = useTrpc();
  const router = useRouter();
  const params = useSearchParams();
  const invalidate = useInvalidate("mcp", "tools");
  const begun = useRef(false);
  const finish = useMutation(
    trpc.mcp.finishSignIn.mutationOptions({
      onError: () => {},
      onSuccess: (server) => {
        void invalidate();
        toast(`Signed in to “${server.name}”`, { tone: "success" });
        router.replace(`/tools?server=${encodeURIComponent(server.name)}`);
      },
    }),
  );
  const { mutate } = finish;
  useEffect(() => {
    // A code works only once, but effects may run twice.
    if (begun.current) return;
    begun.current = true;
    const given = FIELDS.flatMap((name) => {
      const value = params.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    // Keep the code out of the history and off the screen.
    window.history.replaceState(null, "", "/tools/sign-in");
    mutate({ state: params.get("state") ?? "", ...Object.fromEntries(given) });
  }, [params, mutate]);
  return (
    <EmptyState
      className="h-full justify-center"
      icon={<KeyRound />}
      isPage
      title={finish.error ? "Sign-in failed" : "Signing in…"}
      actions={finish.error ? <ButtonLink href="/tools">Back to tools</ButtonLink> : null}
    >
      {finish.error ? (
        <span role="alert" className="[overflow-wrap:anywhere]">
          {toApiError(finish.error).message}
        </span>
      ) : (
        "Troupe is completing sign-in and will then connect to the server."
      )}
    </EmptyState>
  );
}
