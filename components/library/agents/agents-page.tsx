"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus, UserRound } from "lucide-react";
import dynamic from "next/dynamic";
import { useSearchParams } from "next/navigation";
import { RoleFace } from "@/components/display/role-face";
import { CrewFiles } from "@/components/library/crews/crew-files";
import { CrewTabs } from "@/components/library/crews/crew-tabs";
import { LibraryList } from "@/components/library/library-list";
import { SplitPage } from "@/components/page/split-page";
import { toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Skeleton } from "@/components/ui/skeleton";

const loading = () => (
  <div aria-busy="true" className="p-6">
    <Skeleton className="h-40 w-full max-w-2xl" />
  </div>
);
const AgentEditor = dynamic(() => import("./agent-editor").then((m) => m.AgentEditor), {
  ssr: false,
  loading,
});

/** All agents of the library beside the form of one. */
export function AgentsPage() {
  const params = useSearchParams();
  const trpc = useTrpc();
  const client = useTrpcClient();
  const agents = useQuery(trpc.agents.list.queryOptions());
  const roles = useQuery(trpc.roles.list.queryOptions());
  const asked = params.get("agent");
  const isNew = params.has("new");
  const error = agents.error ?? roles.error;
  if (!agents.data || !roles.data)
    return error ? (
      <EmptyState
        className="h-full justify-center"
        title="The agents could not be loaded"
        actions={
          <Button
            onClick={() => {
              void agents.refetch();
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
  const all = agents.data;
  const allRoles = roles.data.map(({ role }) => role);
  const chosen = all.find(({ id }) => id === asked);
  const list = (
    <LibraryList
      title="Agents"
      noun={["agent", "agents"]}
      current={chosen?.id}
      rows={all.map(({ id, name, agent, used_by }) => {
        const role = allRoles.find((known) => known.name === agent.role_name);
        return {
          key: id,
          href: `/agents?agent=${encodeURIComponent(id)}`,
          face: <RoleFace name={agent.role_name} icon={role?.icon} color={role?.color} size={32} />,
          name,
          line: agent.role_name || "No role yet",
          uses: used_by,
        };
      })}
      actions={
        <>
          <CrewFiles
            what="agents"
            file={all.length > 0 ? (format) => client.agents.export.query({ format }) : undefined}
          />
          <ButtonLink href="/agents?new=1" icon={<Plus aria-hidden="true" />} className="ml-1">
            New
          </ButtonLink>
        </>
      }
      tabs={<CrewTabs current="agents" />}
      empty={
        <EmptyState
          icon={<UserRound />}
          title="No agents yet"
          actions={
            <ButtonLink href="/agents?new=1" icon={<Plus aria-hidden="true" />} className="md:hidden">
              New agent
            </ButtonLink>
          }
        >
          An agent is a role with a story, a model and limits of its own. Kept here, many crews and workflows
          can use it.
        </EmptyState>
      }
    />
  );
  return (
    <SplitPage label="All agents" href="/agents" list={list} isOpen={isNew || asked !== null}>
      {isNew ? (
        <AgentEditor key="new" saved={null} roles={allRoles} />
      ) : chosen ? (
        <AgentEditor key={chosen.id} saved={chosen} roles={allRoles} />
      ) : (
        <EmptyState
          className="h-full justify-center"
          icon={<UserRound />}
          title={
            asked
              ? `There is no agent “${asked}”`
              : all.length > 0
                ? "Choose an agent"
                : "Make the first agent"
          }
          actions={
            <ButtonLink href="/agents?new=1" icon={<Plus aria-hidden="true" />}>
              New agent
            </ButtonLink>
          }
        >
          Crews and workflows that name an agent take a copy of it whenever a run starts.
        </EmptyState>
      )}
    </SplitPage>
  );
}
