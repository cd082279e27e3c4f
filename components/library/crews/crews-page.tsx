"use client";

import { useQuery } from "@tanstack/react-query";
import { Network } from "lucide-react";
import dynamic from "next/dynamic";
import { RoleFace } from "@/components/display/role-face";
import { editorLoading, LibraryPage } from "@/components/library/library-page";
import { LibrarySheets } from "@/components/library/library-sheets";
import { useTrpc, useTrpcClient } from "@/components/trpc";
import { CrewFiles } from "./crew-files";
import { CrewTabs } from "./crew-tabs";
import { ReadyCrews } from "./ready-crews";

const CrewEditor = dynamic(() => import("./crew-editor").then((m) => m.CrewEditor), {
  ssr: false,
  loading: editorLoading,
});

/** All crews of the library beside the form of one. */
export function CrewsPage() {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const crews = useQuery(trpc.crews.list.queryOptions());
  const roles = useQuery(trpc.roles.list.queryOptions());
  const allRoles = roles.data?.map(({ role }) => role) ?? [];
  return (
    <LibrarySheets>
      <LibraryPage
        title="Crews"
        noun={["crew", "crews"]}
        icon={<Network />}
        queries={[crews, roles]}
        all={crews.data}
        keyOf={({ id }) => id}
        rowOf={({ name, crew, used_by }) => ({
          face: crew.agents.slice(0, 3).map(({ agent_id, role_name }) => {
            const role = allRoles.find((known) => known.name === role_name);
            return (
              <RoleFace key={agent_id} name={role_name} icon={role?.icon} color={role?.color} size={26} />
            );
          }),
          name,
          line: crew.agents.map(({ role_name }) => role_name).join(", "),
          uses: used_by,
        })}
        actions={
          <CrewFiles
            what="crews"
            file={
              crews.data && crews.data.length > 0
                ? (format) => client.crews.export.query({ format })
                : undefined
            }
          />
        }
        tabs={<CrewTabs current="crews" />}
        about="A crew is several agents and the way in which they work together. Kept here, many workflows can use it. Begin with a ready-made one, or make your own."
        choose="Workflows that name a crew take a copy of it whenever a run starts."
        starters={<ReadyCrews roles={allRoles} taken={crews.data?.map(({ name }) => name) ?? []} />}
        editor={(chosen) => <CrewEditor key={chosen?.id ?? "(new)"} saved={chosen} />}
      />
    </LibrarySheets>
  );
}
