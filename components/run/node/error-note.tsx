"use client";

import clsx from "clsx";
import { TriangleAlert } from "lucide-react";
import Link from "next/link";
import { PageLink } from "@/components/ui/page-link";
import type { RunError } from "@/server/domain/agent/outcome";
import { errorHref } from "@/server/domain/text/doc-links";
import { RequestDifference } from "../replay/request-difference";
import { useRun } from "../run-context";

const ADVICE: Record<RunError["user_action"], string | null> = {
  none: null,
  retry: "Retrying may help.",
  settings: "Check the provider in Settings.",
  edit_graph: "Edit the workflow and run it again.",
  raise_limit: "Raise the limit to continue.",
};

/** What a person can do about an error; null if the message already says so. */
export function adviceFor({ user_action, message }: RunError): string | null {
  const advice = ADVICE[user_action];
  return advice !== null && message.includes(advice) ? null : advice;
}

/** An error: its message, what to do about it, and its code with a link to the docs. */
export function ErrorNote({ error, isQuiet }: { error: RunError; isQuiet?: boolean }) {
  const workflowId = useRun<string | null>(({ state }) => state.run.workflow_id, null);
  const advice = adviceFor(error);
  const href =
    error.user_action === "settings"
      ? "/settings"
      : error.user_action === "edit_graph" && workflowId
        ? `/workflows/${workflowId}${error.node_id ? `?node=${encodeURIComponent(error.node_id)}` : ""}`
        : null;
  return (
    <div
      role={isQuiet ? undefined : "alert"}
      className={clsx(
        "flex gap-2.5 rounded-lg border border-failed/35 px-3 py-2.5",
        isQuiet ? "bg-surface" : "bg-failed/6",
      )}
    >
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-failed" />
      <div className="min-w-0 text-[13px]">
        <p className="text-ink [overflow-wrap:anywhere]">{error.message}</p>
        {advice ? (
          <p className="mt-1 text-ink-2">
            {href ? (
              <Link href={href} className="font-medium text-accent underline-offset-2 hover:underline">
                {advice}
              </Link>
            ) : (
              advice
            )}
          </p>
        ) : null}
        <RequestDifference error={error} />
        <PageLink
          href={errorHref(error.code)}
          target="_blank"
          className="mt-1 block font-mono text-[11px] text-ink-3 hover:text-ink hover:underline"
        >
          {error.code}
          <span className="sr-only">: cause and fix (new tab)</span>
        </PageLink>
      </div>
    </div>
  );
}
