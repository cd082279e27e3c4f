"use client";

import { useMutation } from "@tanstack/react-query";
import { Undo2 } from "lucide-react";
import { type Answers, useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { TimeText } from "@/components/ui/time-text";
import { Sheet } from "./tool-detail";

/** Tools of one's own that were removed. */
export function CustomToolBin({ tools }: { tools: Answers["customTools"]["list"]["bin"] }) {
  const invalidate = useInvalidate("customTools", "tools");
  const restore = useMutation(useTrpc().customTools.restore.mutationOptions({ onSuccess: invalidate }));
  return (
    <Sheet name="Bin" isPlace>
      {tools.length === 0 ? (
        <EmptyState title="The bin is empty" />
      ) : (
        <ul
          aria-label="Removed tools"
          className="divide-y divide-line rounded-xl border border-line bg-surface"
        >
          {tools.map(({ definition, deleted_at }) => (
            <li key={definition.name} className="flex items-center gap-3 px-4 py-3">
              <div className="min-w-0 flex-1">
                <p className="truncate font-mono text-[13px] font-medium">{definition.name}</p>
                <p className="truncate text-[13px] text-ink-2">
                  {definition.description}
                  {deleted_at === null ? null : (
                    <>
                      {" "}
                      · <TimeText at={deleted_at} />
                    </>
                  )}
                </p>
              </div>
              <Button
                size="sm"
                icon={<Undo2 aria-hidden="true" />}
                aria-label={`Restore ${definition.name}`}
                pending={restore.isPending}
                onClick={() => restore.mutate({ name: definition.name })}
              >
                Restore
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Sheet>
  );
}
