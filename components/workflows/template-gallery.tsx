"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useWorkflowActions } from "@/components/import-export/workflow-actions";
import { LoadError } from "@/components/page/error-text";
import { Page } from "@/components/page/page";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { TemplateCards } from "./template-cards";
import "../display/sketch.css";

/** All templates. */
export function TemplateGallery() {
  const templates = useQuery({ ...useTrpc().workflows.templates.queryOptions(), staleTime: Infinity });
  const actions = useWorkflowActions();
  return (
    <Page
      title="Templates"
      description="Each opens as your own copy and runs on the offline demo. No API key needed."
      actions={
        <Button
          icon={<Plus aria-hidden />}
          pending={actions.opening === "blank"}
          disabled={actions.opening !== null}
          onClick={actions.create}
        >
          Blank workflow
        </Button>
      }
    >
      {templates.data ? (
        <TemplateCards templates={templates.data} actions={actions} />
      ) : templates.error ? (
        <LoadError what="templates" queries={[templates]} />
      ) : (
        <Skeleton className="h-72 w-full rounded-xl" />
      )}
    </Page>
  );
}
