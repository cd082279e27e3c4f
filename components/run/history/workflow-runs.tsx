"use client";

import { useQuery } from "@tanstack/react-query";
import { FlaskConical, Pencil } from "lucide-react";
import { Page } from "@/components/page/page";
import { usePageTitle } from "@/components/page/page-title";
import { useTrpc } from "@/components/trpc";
import { ButtonLink } from "@/components/ui/button";
import { RunLauncher } from "../start/run-launcher";
import { RunHistory } from "./run-history";

/** Every run of one workflow. */
export function WorkflowRuns({ workflowId }: { workflowId: string }) {
  const { data } = useQuery(useTrpc().workflows.get.queryOptions({ id: workflowId }));
  usePageTitle(data ? `Runs of ${data.name}` : null);
  return (
    <Page
      title="Runs"
      description={data ? `All runs of ${data.name}.` : " "}
      actions={
        <>
          <ButtonLink href={`/workflows/${workflowId}`} icon={<Pencil aria-hidden />}>
            Edit workflow
          </ButtonLink>
          <ButtonLink href={`/workflows/${workflowId}/tests`} icon={<FlaskConical aria-hidden />}>
            Tests
          </ButtonLink>
          {data ? <RunLauncher workflowId={workflowId} graph={data.graph} name={data.name} /> : null}
        </>
      }
    >
      <RunHistory workflowId={workflowId} />
    </Page>
  );
}
