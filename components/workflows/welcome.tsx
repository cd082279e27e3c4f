"use client";

import { useQuery } from "@tanstack/react-query";
import { FileDown, Plus } from "lucide-react";
import type { WorkflowActions } from "@/components/import-export/workflow-actions";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { TemplateCards } from "./template-cards";

/** What a first visit sees: what this is, and workflows that run at once. */
export function Welcome({ actions, onImport }: { actions: WorkflowActions; onImport: () => void }) {
  const templates = useQuery(useTrpc().workflows.templates.queryOptions());
  return (
    <div className="mx-auto max-w-6xl px-4 pt-8 pb-16 sm:px-8 sm:pt-16">
      <h1 className="max-w-2xl font-serif text-[40px] leading-[1.08] tracking-[-0.015em] text-balance sm:text-[56px]">
        Cast your agents, draw the plot, watch it play.
      </h1>
      <p className="mt-4 max-w-xl text-base text-ink-2">
        A workflow says who does what, and what follows. Open one, press Run, and see every step light up on
        the drawing.
      </p>
      <div className="mt-8 sm:mt-10">
        {templates.data ? (
          <TemplateCards templates={templates.data} actions={actions} />
        ) : (
          <Skeleton className="h-72 w-full rounded-xl" />
        )}
      </div>
      <div className="mt-6 flex flex-wrap items-center gap-2">
        <Button
          variant="ghost"
          icon={<Plus aria-hidden="true" />}
          pending={actions.opening === "blank"}
          onClick={actions.create}
        >
          Start from nothing
        </Button>
        <Button variant="ghost" icon={<FileDown aria-hidden="true" />} onClick={onImport}>
          Import a file
        </Button>
      </div>
    </div>
  );
}
