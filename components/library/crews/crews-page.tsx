"use client";

import { useQuery } from "@tanstack/react-query";
import { Network, Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useSearchParams } from "next/navigation";
import { RoleFace } from "@/components/display/role-face";
import { LibraryList } from "@/components/library/library-list";
import { SplitPage } from "@/components/page/split-page";
import { toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Skeleton } from "@/components/ui/skeleton";
import { CrewFiles } from "./crew-files";
import { CrewTabs } from "./crew-tabs";

const loading = () => (
  <div aria-busy="true" className="p-6">
    <Skeleton className="h-40 w-full max-w-2xl" />
  </div>
);
const CrewEditor = dynamic(() => import("./crew-editor").then((m) => m.CrewEditor), { ssr: false, loading });

/** All crews of the library beside the form of one. */
export function CrewsPage() {
  const params = useSearchParams();
  const trpc = useTrpc();
  const client = useTrpcClient();
  const crews = useQuery(trpc.crews.list.queryOptions());
  const roles = useQuery(trpc.roles.list.queryOptions());
  const asked = params.get("crew");
  const isNew = params.has("new");
  const error = crews.error ?? roles.error;
  if (!crews.data || !roles.data)
    return error ? (
      <EmptyState
        className="h-full justify-center"
        title="The crews could not be loaded"
        actions={
          <Button
            onClick={() => {
              void crews.refetch();
              void roles.refetch();
            }}
          >
            Try again
          </Button>
        }
      >
        {toApiError(error).message}
      </EmptyState>
    ) : (
      loading()
    );
  const all = crews.data;
  const allRoles = roles.data.map(({ role }) => role);
  const chosen = all.find(({ id }) => id === asked);
  const list = (
    <LibraryList
      title="Crews"
      noun={["crew", "crews"]}
      current={chosen?.id}
      rows={all.map(({ id, name, crew, used_by }) => ({
        key: id,
        href: `/crews?crew=${encodeURIComponent(id)}`,
        face: crew.agents.slice(0, 3).map(({ agent_id, role_name }) => {
          const role = allRoles.find((known) => known.name === role_name);
          return <RoleFace key={agent_id} name={role_name} icon={role?.icon} color={role?.color} size={26} />;
        }),
        name,
        line: crew.agents.map(({ role_name }) => role_name).join(", "),
        uses: used_by,
      }))}
      actions={
        <>
          <CrewFiles
            what="crews"
            file={all.length > 0 ? (format) => client.crews.export.query({ format }) : undefined}
          />
          <ButtonLink href="/crews?new=1" icon={<Plus aria-hidden="true" />} className="ml-1">
            New
          </ButtonLink>
        </>
      }
      tabs={<CrewTabs current="crews" />}
      empty={
        <EmptyState
          icon={<Network />}
          title="No crews yet"
          actions={
            <ButtonLink href="/crews?new=1" icon={<Plus aria-hidden="true" />} className="md:hidden">
              New crew
            </ButtonLink>
          }
        >
          A crew is several agents and the way in which they work together. Kept here, many workflows can use
          it.
        </EmptyState>
      }
    />
  );
  return (
    <SplitPage label="All crews" href="/crews" list={list} isOpen={isNew || asked !== null}>
      {isNew ? (
        <CrewEditor key="new" saved={null} roles={allRoles} />
      ) : chosen ? (
        <CrewEditor key={chosen.id} saved={chosen} roles={allRoles} />
      ) : (
        <EmptyState
          className="h-full justify-center"
          icon={<Network />}
          title={
            asked ? `There is no crew “${asked}”` : all.length > 0 ? "Choose a crew" : "Make the first crew"
          }
          actions={
            <ButtonLink href="/crews?new=1" icon={<Plus aria-hidden="true" />}>
              New crew
            </ButtonLink>
          }
        >
          Workflows that name a crew take a copy of it whenever a run starts.
        </EmptyState>
      )}
    </SplitPage>
  );
}
