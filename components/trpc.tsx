"use client";

import {
  MutationCache,
  QueryCache,
  QueryClient,
  QueryClientProvider,
  useQueryClient,
} from "@tanstack/react-query";
import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
} from "@trpc/client";
import type { inferRouterOutputs } from "@trpc/server";
import { createTRPCContext } from "@trpc/tanstack-react-query";
import { type ReactNode, useState } from "react";
import { create } from "zustand";
import { toast } from "@/components/ui/toasts";
import type { AppRouter } from "@/server/api/root";
import { isText, recordOf } from "@/server/domain/base/guards";

const context = createTRPCContext<AppRouter>();

/** Query, mutation and subscription options for every procedure: `useQuery(useTrpc().workflows.list.queryOptions())`. */
export const useTrpc = context.useTRPC;
/** The bare client, for calls outside of React's cycle. */
export const useTrpcClient = context.useTRPCClient;

/** The outputs of procedures: `Answers["workflows"]["list"]`. */
export type Answers = inferRouterOutputs<AppRouter>;

/** Refetches everything under these routers: `const invalidate = useInvalidate("mcp", "tools")`. */
export function useInvalidate(...routers: (keyof Answers)[]): () => Promise<unknown> {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  return () => Promise.all(routers.map((router) => queryClient.invalidateQueries(trpc[router].pathFilter())));
}

/** An API error in a form that components can read. */
export interface ApiError {
  /** A tRPC code; UNREACHABLE if there was no response. */
  code: string;
  message: string;
  detail: unknown;
}

/** Reads the error that a call threw. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof TRPCClientError) {
    const { code, detail = null } = recordOf(error.data);
    if (isText(code) && code !== "") return { code, message: error.message, detail };
    return {
      code: "UNREACHABLE",
      message: "Can't reach the Troupe server. Check that it's running.",
      detail: null,
    };
  }
  return {
    code: "UNKNOWN",
    message: error instanceof Error ? error.message : "Something went wrong. Try again.",
    detail: null,
  };
}

const reachable = create(() => ({ yes: true }));

/** Whether the last query reached the server. */
export const useIsServerReachable = () => reachable((state) => state.yes);

/** Reports that the server didn't respond to another request; calls `done` as soon as a query reaches it. */
export function onceReachable(done: () => void): void {
  reachable.setState({ yes: false });
  const stop = reachable.subscribe(({ yes }) => {
    if (!yes) return;
    stop();
    done();
  });
}

/** The connection to the server for everything below it. */
export function TroupeApi({ children }: { children: ReactNode }) {
  const [queryClient] = useState(newQueryClient);
  const [client] = useState(newClient);
  return (
    <QueryClientProvider client={queryClient}>
      <context.TRPCProvider trpcClient={client} queryClient={queryClient}>
        {children}
      </context.TRPCProvider>
    </QueryClientProvider>
  );
}

function newClient() {
  const url = "/api/trpc";
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (operation) => operation.type === "subscription",
        true: httpSubscriptionLink({ url }),
        false: splitLink({
          // The page of a workflow preloads this URL: see app/workflows/[id]/page.tsx.
          condition: ({ path }) => path === "workflows.get",
          true: httpLink({ url }),
          false: httpBatchLink({ url, maxURLLength: 2000, maxItems: 10 }),
        }),
      }),
    ],
  });
}

function newQueryClient() {
  return new QueryClient({
    defaultOptions: {
      // The server may be this machine. What can't reach it fails at once, instead of happening later, unseen.
      queries: {
        networkMode: "always",
        refetchOnReconnect: true,
        staleTime: 2_000,
        retry: (count, error) => toApiError(error).code === "UNREACHABLE" && count < 3,
      },
      mutations: { networkMode: "always", retry: false },
    },
    queryCache: new QueryCache({
      onError: (error) => {
        signInIfNeeded(error);
        if (toApiError(error).code === "UNREACHABLE") reachable.setState({ yes: false });
      },
      onSuccess: () => {
        if (!reachable.getState().yes) reachable.setState({ yes: true });
      },
    }),
    mutationCache: new MutationCache({
      onSuccess: (answer) => {
        // A command that the run has not come to yet.
        if (recordOf(answer).applied === false) toast("Accepted. Takes effect when the run resumes.");
      },
      onError: (error, _variables, _result, mutation) => {
        signInIfNeeded(error);
        // Mutations with an onError show their own message; all other errors must be visible, too.
        if (!mutation.options.onError) toast(toApiError(error).message, { tone: "error" });
      },
    }),
  });
}

function signInIfNeeded(error: unknown) {
  if (toApiError(error).code !== "UNAUTHORIZED" || window.location.pathname.startsWith("/login")) return;
  const back = window.location.pathname + window.location.search;
  window.location.assign(`/login?next=${encodeURIComponent(back)}`);
}
