"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleSlash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { useEffect } from "react";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Spinner } from "@/components/ui/spinner";

/** Finds the page of a run whose workflow is not known, and goes there. */
export function OpenRun({ runId }: { runId: string }) {
  const router = useRouter();
  const found = useQuery({ ...useTrpc().runs.get.queryOptions({ run_id: runId }), retry: false });
  const address = found.data ? `/workflows/${found.data.workflow_id ?? "-"}/runs/${runId}` : null;
  useEffect(() => {
    if (address) router.replace(address);
  }, [address, router]);
  if (!found.error)
    return (
      <div role="status" aria-label="Loading run…" className="flex flex-1 items-center justify-center p-12">
        <Spinner />
      </div>
    );
  const { code, message } = toApiError(found.error);
  return (
    <EmptyState
      isPage
      icon={<CircleSlash2 />}
      title={code === "NOT_FOUND" ? "Run not found" : "Couldn't load the run"}
      className="flex-1 justify-center"
      actions={
        <>
          <Button onClick={() => void found.refetch()}>Try again</Button>
          <ButtonLink href="/runs" variant="primary">
            All runs
          </ButtonLink>
        </>
      }
    >
      {code === "NOT_FOUND" ? `No run has the ID ${runId}. It may have been deleted.` : message}
    </EmptyState>
  );
}
