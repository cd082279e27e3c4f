"use client";

import { useQuery } from "@tanstack/react-query";
import { UserRound } from "lucide-react";
import dynamic from "next/dynamic";
import { RoleFace } from "@/components/display/role-face";
import { CrewFiles } from "@/components/library/crews/crew-files";
import { CrewTabs } from "@/components/library/crews/crew-tabs";
import { editorLoading, LibraryPage } from "@/components/library/library-page";
import { LibrarySheets } from "@/components/library/library-sheets";
import { useTrpc, useTrpcClient } from "@/components/trpc";

const AgentEditor = dynamic(() => import("./agent-editor").then((m) => m.AgentEditor), {
  ssr: false,
  loading: editorLoading,
});

/** All agents of the library beside the form of one. */
export function AgentsPage() {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const agents = useQuery(trpc.agents.list.queryOptions());
  const roles = useQuery(trpc.roles.list.queryOptions());
  const allRoles = roles.data?.map(({ role }) => role) ?? [];
  return (
    <LibrarySheets>
      <LibraryPage
        title="Agents"
        noun={["agent", "agents"]}
        icon={<UserRound />}
        queries={[agents, roles]}
        all={agents.data}
        keyOf={({ id }) => id}
        rowOf={({ name, agent, used_by }) => {
          const role = allRoles.find((known) => known.name === agent.role_name);
          return {
            face: <RoleFace name={agent.role_name} icon={role?.icon} color={role?.color} size={32} />,
            name,
            line: agent.role_name || "No role yet",
            uses: used_by,
          };
        }}
        actions={
          <CrewFiles
            what="agents"
            file={
              agents.data && agents.data.length > 0
                ? (format) => client.agents.export.query({ format })
                : undefined
            }
          />
        }
        tabs={<CrewTabs current="agents" />}
        about="An agent is a role with a story, a model and limits of its own. Kept here, many crews and workflows can use it."
        choose="Crews and workflows that name an agent take a copy of it whenever a run starts."
        editor={(chosen) => <AgentEditor key={chosen?.id ?? "(new)"} saved={chosen} />}
      />
    </LibrarySheets>
  );
}
