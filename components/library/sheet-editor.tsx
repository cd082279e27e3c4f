import { useQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import type { SheetRequest } from "@/components/forms/library-sheets";
import { useTrpc } from "@/components/trpc";
import { EmptyState } from "@/components/ui/empty-state";

const RoleEditor = dynamic(() => import("./roles/role-editor").then((m) => m.RoleEditor), { ssr: false });
const AgentEditor = dynamic(() => import("./crews/agent-editor").then((m) => m.AgentEditor), { ssr: false });
const CrewEditor = dynamic(() => import("./crews/crew-editor").then((m) => m.CrewEditor), { ssr: false });

/** The editor of the item that a sheet was opened for. */
export function SheetEditor({ kind, id, name }: SheetRequest) {
  const trpc = useTrpc();
  const roles = useQuery(trpc.roles.list.queryOptions()).data;
  const agents = useQuery(trpc.agents.list.queryOptions(undefined, { enabled: kind === "agent" })).data;
  const crews = useQuery(trpc.crews.list.queryOptions(undefined, { enabled: kind === "crew" })).data;
  const role = roles?.find((one) => one.role.name === id) ?? null;
  const agent = agents?.find((one) => one.id === id) ?? null;
  const crew = crews?.find((one) => one.id === id) ?? null;
  if (!roles || !{ role: roles, agent: agents, crew: crews }[kind]) return null;
  if (id !== null && !{ role, agent, crew }[kind])
    return (
      <EmptyState className="h-full justify-center" title={`No ${kind} “${id}”`}>
        It may have been deleted or renamed.
      </EmptyState>
    );
  switch (kind) {
    case "role":
      return <RoleEditor saved={role} name={name} />;
    case "agent":
      return <AgentEditor saved={agent} name={name} />;
    case "crew":
      return <CrewEditor saved={crew} name={name} />;
  }
}
