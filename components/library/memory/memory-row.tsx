"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import clsx from "clsx";
import { PencilLine, Trash2, UserRoundX } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { IconButton } from "@/components/ui/icon-button";
import { TimeText } from "@/components/ui/time-text";
import { toast } from "@/components/ui/toasts";
import { MEMORY_SCOPES } from "@/server/domain/agent/memory-scope";
import type { MemoryListed } from "./memory";

const SHORT = 400;

/** One memory: what it says, how far it reaches, and where it came from. */
export function MemoryRow({ memory, onEdit }: { memory: MemoryListed; onEdit: () => void }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const [isWhole, setWhole] = useState(false);
  const refresh = () => queryClient.invalidateQueries(trpc.memories.pathFilter());
  const restore = useMutation(trpc.memories.restore.mutationOptions({ onSettled: refresh }));
  const { id, key, value, scope, tainted, updated_at, expires_at } = memory;
  const remove = useMutation(
    trpc.memories.remove.mutationOptions({
      onSettled: refresh,
      onSuccess: () => {
        const { scope_id, importance, source } = memory;
        toast(`Deleted “${key}”`, {
          undo: () =>
            restore.mutate({ scope, scope_id, key, value, importance, tainted, source, expires_at }),
        });
      },
    }),
  );
  const whole = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const text = isWhole || whole.length <= SHORT ? whole : `${whole.slice(0, SHORT).toWellFormed()}…`;
  return (
    <li className="flex gap-3 px-4 py-3">
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 font-mono text-[13px] font-medium [overflow-wrap:anywhere]">{key}</span>
          <Badge>{MEMORY_SCOPES[scope].title}</Badge>
          {tainted ? (
            <Badge tone="waiting" icon={<UserRoundX aria-hidden="true" />}>
              From strangers
            </Badge>
          ) : null}
        </p>
        <p
          className={clsx(
            "whitespace-pre-wrap [overflow-wrap:anywhere]",
            typeof value === "string" ? "text-sm" : "font-mono text-[13px]",
          )}
        >
          {text}
        </p>
        {whole.length > SHORT ? (
          <button
            type="button"
            aria-expanded={isWhole}
            onClick={() => setWhole(!isWhole)}
            className="self-start text-[13px] text-ink-2 underline underline-offset-2 hover:text-accent"
          >
            {isWhole ? "Show less" : "Show all"}
          </button>
        ) : null}
        <p className="text-[13px] text-ink-3">
          <Origin memory={memory} />, <TimeText at={updated_at} />
          {expires_at === null ? null : (
            <>
              {" "}
              · kept until{" "}
              {new Date(expires_at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}
            </>
          )}
        </p>
      </div>
      <div className="flex shrink-0 gap-0.5">
        <IconButton
          label={`Change ${key}`}
          size="sm"
          icon={<PencilLine aria-hidden="true" />}
          onClick={onEdit}
        />
        <IconButton
          label={`Delete ${key}`}
          size="sm"
          variant="danger"
          icon={<Trash2 aria-hidden="true" />}
          pending={remove.isPending}
          onClick={() => remove.mutate({ id })}
        />
      </div>
    </li>
  );
}

/** Who wrote it, with which tool, and in which run. */
function Origin({ memory: { source, place } }: { memory: MemoryListed }) {
  const who =
    source.by === "person" || source.by === "program"
      ? `${source.tool_name || source.run_id ? "Corrected" : "Written"} by a ${source.by}`
      : source.role_name
        ? `By ${source.role_name}${source.agent_id ? ` (${source.agent_id})` : ""}`
        : "By an agent";
  const { run, workflow } = place;
  return (
    <>
      {who}
      {source.tool_name ? ` with ${source.tool_name}` : ""}
      {run ? (
        <>
          {" in "}
          {run.workflow_id ? (
            <Link
              href={`/workflows/${run.workflow_id}/runs/${run.id}`}
              className="text-ink-2 underline underline-offset-2 hover:text-accent"
            >
              a run of {run.name}
            </Link>
          ) : (
            `a run of ${run.name}`
          )}
        </>
      ) : null}
      {workflow ? (
        <>
          {" for "}
          <Link
            href={`/workflows/${workflow.id}`}
            className="text-ink-2 underline underline-offset-2 hover:text-accent"
          >
            {workflow.name}
          </Link>
        </>
      ) : null}
    </>
  );
}
