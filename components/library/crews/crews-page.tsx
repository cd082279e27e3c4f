"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { Check, FileDown, FileUp, Network, Plus, UserRound } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { FaceOfRole } from "@/components/display/role-face";
import { ImportDoor, useImporting } from "@/components/import-export/import-door";
import { editorLoading, LibraryPage } from "@/components/library/library-page";
import { LibrarySheets } from "@/components/library/library-sheets";
import { useEditorPlace } from "@/components/library/place";
import { downloadText } from "@/components/page/download";
import { type Answers, useInvalidate, useTrpc, useTrpcClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/overlay/menu";
import { toast } from "@/components/ui/toasts";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { CREW_PROCESSES } from "@/server/domain/crew/processes";
import { isCrewNode } from "@/server/domain/nodes";

const AgentEditor = dynamic(() => import("./agent-editor").then((m) => m.AgentEditor), {
  ssr: false,
  loading: editorLoading,
});
const CrewEditor = dynamic(() => import("./crew-editor").then((m) => m.CrewEditor), {
  ssr: false,
  loading: editorLoading,
});

/** The library crews next to the form of the open one. */
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
          face: crew.agents
            .slice(0, 3)
            .map(({ agent_id, role_name }) => (
              <FaceOfRole key={agent_id} roles={allRoles} name={role_name} size={26} />
            )),
          name,
          line: crew.agents.map(({ role_name }) => role_name).join(", "),
          uses: used_by,
        })}
        actions={
          <Files
            what="crews"
            isEmpty={!crews.data?.length}
            file={(format) => client.crews.export.query({ format })}
          />
        }
        tabs={<Tabs current="/crews" />}
        about="A crew is a group of agents with a process. Save one here to reuse it across workflows. Start from a ready-made crew or create your own."
        choose="Each run uses a copy of the crew, taken when it starts."
        starters={<ReadyCrews roles={allRoles} taken={crews.data?.map(({ name }) => name) ?? []} />}
        editor={(chosen) => <CrewEditor key={chosen?.id ?? "(new)"} saved={chosen} />}
      />
    </LibrarySheets>
  );
}

/** The library agents next to the form of the open one. */
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
        rowOf={({ name, agent, used_by }) => ({
          face: <FaceOfRole roles={allRoles} name={agent.role_name} size={32} />,
          name,
          line: agent.role_name || "No role yet",
          uses: used_by,
        })}
        actions={
          <Files
            what="agents"
            isEmpty={!agents.data?.length}
            file={(format) => client.agents.export.query({ format })}
          />
        }
        tabs={<Tabs current="/agents" />}
        about="An agent is a role with its own backstory, model and limits. Save one here to reuse it across crews and workflows."
        choose="Each run uses a copy of the agent, taken when it starts."
        editor={(chosen) => <AgentEditor key={chosen?.id ?? "(new)"} saved={chosen} />}
      />
    </LibrarySheets>
  );
}

/** Tabs for crews and single agents. */
const Tabs = ({ current }: { current: string }) => (
  <nav aria-label="Crews and agents" className="flex gap-4 border-b border-line">
    {Object.entries({ "/crews": "Crews", "/agents": "Agents" }).map(([href, label]) => (
      <Link
        key={href}
        href={href}
        aria-current={href === current ? "page" : undefined}
        className={clsx(
          "-mb-px inline-flex h-9 items-center border-b-2 text-[13px] font-medium",
          href === current ? "border-accent text-ink" : "border-transparent text-ink-2 hover:text-ink",
        )}
      >
        {label}
      </Link>
    ))}
  </nav>
);

/** Imports crews and agents by button or drop, and exports the whole list. */
function Files({
  what,
  isEmpty,
  file,
}: {
  what: "crews" | "agents";
  isEmpty: boolean;
  file: (format: "yaml" | "json") => Promise<{ file_name: string; text: string }>;
}) {
  const importing = useImporting();
  const download = async (format: "yaml" | "json") => {
    const { file_name, text } = await file(format);
    downloadText(file_name, text);
  };
  return (
    <>
      <IconButton
        label={`Import ${what}`}
        icon={<FileDown aria-hidden="true" />}
        onClick={() => importing.open()}
      />
      {isEmpty ? null : (
        <Menu
          align="end"
          trigger={<IconButton plain label={`Export all ${what}`} icon={<FileUp aria-hidden="true" />} />}
          items={[
            { label: "YAML", onSelect: () => void download("yaml") },
            { label: "JSON", onSelect: () => void download("json") },
          ]}
        />
      )}
      <ImportDoor
        importing={importing}
        what={what}
        title={`Import ${what}`}
        placeholder={"crew_id: writers\nagents:\n  - role: Writer\n  - role: Editor"}
      />
    </>
  );
}

interface ReadyCrew {
  name: string;
  description: string;
  crew: CrewConfig;
}

/** Crews of the templates, to copy into the library. */
function ReadyCrews({
  roles,
  taken,
}: {
  roles: readonly RoleDefinition[];
  /** Names of existing crews. */
  taken: readonly string[];
}) {
  const trpc = useTrpc();
  const place = useEditorPlace("/crews", "crew");
  const invalidate = useInvalidate("crews");
  const templates = useQuery(trpc.workflows.templates.queryOptions());
  const add = useMutation(
    trpc.crews.create.mutationOptions({
      onSuccess: async ({ id }, { name }) => {
        await invalidate();
        toast(`Added “${name}”`, { tone: "success" });
        place.show(id);
      },
    }),
  );
  const crews = readyCrews(templates.data ?? []);
  if (crews.length === 0) return null;
  return (
    <section aria-labelledby="ready-crews" className="w-full max-w-3xl">
      <h2 id="ready-crews" className="mb-3 text-[13px] font-semibold">
        Ready-made crews
      </h2>
      <ul className="grid gap-3 sm:grid-cols-2">
        {crews.map(({ name, description, crew }) => {
          const isThere = taken.includes(name);
          return (
            <li
              key={name}
              className="flex flex-col gap-2 rounded-xl border border-line bg-surface p-3.5 text-left"
            >
              <div className="flex items-center gap-2">
                <span className="flex -space-x-1.5">
                  {crew.agents.slice(0, 4).map(({ agent_id, role_name }) => (
                    <FaceOfRole key={agent_id} roles={roles} name={role_name} size={24} />
                  ))}
                </span>
                <h3 className="min-w-0 flex-1 text-sm font-medium">{name}</h3>
                <Button
                  size="sm"
                  aria-label={isThere ? `${name} already added` : `Add ${name}`}
                  icon={isThere ? <Check aria-hidden="true" /> : <Plus aria-hidden="true" />}
                  disabled={isThere}
                  pending={add.isPending && add.variables.name === name}
                  onClick={() => add.mutate({ name, crew })}
                >
                  {isThere ? "Added" : "Add"}
                </Button>
              </div>
              <p className="text-[13px] text-ink-2">{description}</p>
              <p className="mt-auto text-xs text-ink-3">
                {CREW_PROCESSES[crew.process].title}:{" "}
                {crew.agents.map(({ role_name }) => role_name).join(", ")}
              </p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The crews of the templates, named after them. */
function readyCrews(templates: Answers["workflows"]["templates"]): ReadyCrew[] {
  return templates.flatMap(({ title, description, graph }) => {
    const drawn = Object.values(graph.nodes).flatMap((node) =>
      isCrewNode(node) && node.config.crew ? [{ node, crew: node.config.crew }] : [],
    );
    return drawn.map(({ node, crew }) => ({
      name: drawn.length === 1 ? title : `${title}: ${node.name}`,
      description,
      crew,
    }));
  });
}
