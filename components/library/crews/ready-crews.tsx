"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Check, Plus } from "lucide-react";
import { RoleFace } from "@/components/display/role-face";
import { useEditorPlace } from "@/components/library/place";
import { type Answers, useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toasts";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { CREW_PROCESSES } from "@/server/domain/crew/processes";
import { isCrewNode } from "@/server/domain/nodes";

interface ReadyCrew {
  name: string;
  description: string;
  crew: CrewConfig;
}

/** The crews of the templates, to be put into the library as they are. */
export function ReadyCrews({
  roles,
  taken,
}: {
  roles: readonly RoleDefinition[];
  /** Names of crews that are there already. */
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
                  {crew.agents.slice(0, 4).map(({ agent_id, role_name }) => {
                    const role = roles.find((known) => known.name === role_name);
                    return (
                      <RoleFace
                        key={agent_id}
                        name={role_name}
                        icon={role?.icon}
                        color={role?.color}
                        size={24}
                      />
                    );
                  })}
                </span>
                <h3 className="min-w-0 flex-1 text-sm font-medium">{name}</h3>
                <Button
                  size="sm"
                  aria-label={isThere ? `${name} is in the library` : `Add ${name}`}
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

/** One for each crew that a template draws, called as the template is. */
export function readyCrews(templates: Answers["workflows"]["templates"]): ReadyCrew[] {
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
