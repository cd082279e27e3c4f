import { useQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import type { SheetRequest } from "@/components/forms/library-sheets";
import { useTrpc } from "@/components/trpc";
import { EmptyState } from "@/components/ui/empty-state";

const RoleEditor = dynamic(() => import("./roles/role-editor").then((m) => m.RoleEditor), { ssr: false });
const AgentEditor = dynamic(() => import("./agents/agent-editor").then((m) => m.AgentEditor), { ssr: false });
const CrewEditor = dynamic(() => import("./crews/crew-editor").then((m) => m.CrewEditor), { ssr: false });

/** The editor of what a sheet was opened for. */
export function SheetEditor({ kind, id, name }: SheetRequest) {
  const trpc = useTrpc();
  const roles = useQuery(trpc.roles.list.queryOptions()).data;
  const agents = useQuery(trpc.agents.list.queryOptions(undefined, { enabled: kind === "agent" })).data;
  const crews = useQuery(trpc.crews.list.queryOptions(undefined, { enabled: kind === "crew" })).data;
  if (!roles) return null;
  const allRoles = roles.map(({ role }) => role);
  switch (kind) {
    case "role": {
      const saved = roles.find(({ role }) => role.name === id) ?? null;
      if (id !== null && !saved) return <Gone kind={kind} id={id} />;
      const others = allRoles.filter((role) => role !== saved?.role);
      return <RoleEditor saved={saved} name={name} otherNames={others.map((role) => role.name)} />;
    }
    case "agent": {
      if (!agents) return null;
      const saved = agents.find((agent) => agent.id === id) ?? null;
      if (id !== null && !saved) return <Gone kind={kind} id={id} />;
      return <AgentEditor saved={saved} name={name} roles={allRoles} />;
    }
    case "crew": {
      if (!crews) return null;
      const saved = crews.find((crew) => crew.id === id) ?? null;
      if (id !== null && !saved) return <Gone kind={kind} id={id} />;
      return <CrewEditor saved={saved} name={name} roles={allRoles} />;
    }
  }
}

const Gone = ({ kind, id }: { kind: string; id: string }) => (
  <EmptyState className="h-full justify-center" title={`There is no ${kind} “${id}”`}>
    It was deleted, or it has another name now.
  </EmptyState>
);
