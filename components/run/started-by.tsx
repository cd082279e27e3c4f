"use client";

import { ShieldAlert } from "lucide-react";
import type { RunTrigger } from "@/server/domain/run/events";
import { isTaintedBy, type StartedBy } from "@/server/domain/run/started-by";
import { useRun } from "./run-context";

const STARTS: Readonly<Record<string, string>> = {
  editor: "from the editor",
  api: "through the API",
  cli: "from the command line",
  test: "by a test",
  workflow: "by another workflow",
  webhook: "by a webhook",
  schedule: "by a schedule",
  form: "from a form",
  event: "because another workflow ended",
  chat: "from a chat",
  mcp: "by an MCP client",
} satisfies Record<RunTrigger, string>;

const NAMED: Readonly<Partial<Record<StartedBy["kind"], string>>> = {
  token: "by token",
  webhook: "by webhook",
  schedule: "by schedule",
  form: "from form",
  event: "by trigger",
  chat: "from chat",
  mcp: "by MCP client",
};

/** How a run was started, as the end of a sentence: "by webhook Orders". */
export function startText(trigger: string, by: StartedBy | null | undefined): string {
  const named = by?.name ? NAMED[by.kind] : undefined;
  return named ? `${named} ${by?.name}` : (STARTS[trigger] ?? trigger);
}

/** Who started the run, unless a person did, and whether its input is untrusted. */
export function StartedByLine() {
  const by = useRun(({ head }) => head.run.origin, undefined);
  const isUntrusted = useRun(({ head }) => isTaintedBy(head.run.origin, head.input), false);
  const named = by?.name ? NAMED[by.kind] : undefined;
  if (!named && !isUntrusted) return null;
  return (
    <p className="flex min-w-0 items-center gap-1.5 text-xs leading-4 text-ink-2">
      {named ? <span className="min-w-0 truncate">{`Started ${named} ${by?.name}`}</span> : null}
      {isUntrusted ? (
        <span className="flex shrink-0 items-center gap-1 text-waiting-ink">
          <ShieldAlert aria-hidden className="size-3" />
          Untrusted input
        </span>
      ) : null}
    </p>
  );
}
