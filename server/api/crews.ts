import { z } from "zod";
import { isSameJson } from "@/server/domain/base/values";
import { agentsOfCrew } from "@/server/domain/library/agent-use";
import { crewWith } from "@/server/domain/library/library";
import { rolesOfCrew } from "@/server/domain/library/role-use";
import { readTeams, writeTeams } from "@/server/interop/team-files";
import { crewOperations } from "@/server/operations/library";
import type { LibraryStore } from "@/server/store/library";
import { procedures } from "./expose";
import { FileText, nameFrom } from "./library";
import { AllowTools, bringRoles, seenRole } from "./role-import";
import { procedure, router } from "./trpc";

const Existing = z.enum(["skip", "replace"]);

/** The library of crews, one by one and as files, in which agents of the library may stand beside them. */
export const crewsRouter = router({
  ...procedures(crewOperations),

  /** With the agents of the library that are in them, and the roles of all. */
  export: procedure
    .input(z.object({ ids: z.array(z.string()).optional(), format: z.enum(["yaml", "json"]) }))
    .query(({ ctx, input }) => {
      const { troupe } = ctx;
      const crews = troupe.crews
        .list()
        .filter(({ id }) => !input.ids || input.ids.includes(id))
        .map(({ crew }) => crewWith(crew, troupe.library));
      const members = new Set(crews.flatMap((crew) => [...agentsOfCrew(crew)]));
      const agents = troupe.agents.list().flatMap(({ id, agent }) => (members.has(id) ? [agent] : []));
      const named = new Set(crews.flatMap((crew) => [...rolesOfCrew(crew)]));
      const roles = troupe.roles.all().filter(({ name }) => named.has(name));
      const base = crews.length === 1 ? (crews[0]?.crew_id ?? "crew") : "crews";
      return {
        file_name: `${base}.${input.format}`,
        text: writeTeams({ crews, agents, roles }, input.format),
      };
    }),

  /** Says what an import would bring; changes nothing. */
  previewImport: procedure.input(z.object({ text: FileText })).mutation(({ ctx, input }) => {
    const { crews, agents, roles, findings } = readTeams(input.text);
    const { troupe } = ctx;
    return {
      crews: crews.map((crew) => ({ crew, state: stateOf(crew, troupe.library.crew(crew.crew_id)) })),
      agents: agents.map((agent) => ({ agent, state: stateOf(agent, troupe.library.agent(agent.agent_id)) })),
      roles: roles.map((role) => seenRole(role, troupe.roles)),
      findings,
    };
  }),

  /** Roles of the file are added where there is none of the name; ours stay as they are. */
  import: procedure
    .input(z.object({ text: FileText, existing: Existing.default("skip"), allow_tools: AllowTools }))
    .mutation(({ ctx, input: { text, existing, allow_tools } }) => {
      const { crews, agents, roles, findings } = readTeams(text);
      const { troupe } = ctx;
      const { left_out } = bringRoles(roles, {
        store: troupe.roles,
        existing: "skip",
        allow_tools,
        note: ctx.note,
      });
      const done: Imported = { created: [], replaced: [], skipped: [] };
      for (const agent of agents)
        bring(agent.agent_id, agent, { ours: troupe.agents, word: "agent" as const, existing, done });
      for (const crew of crews)
        bring(crew.crew_id, crew, { ours: troupe.crews, word: "crew" as const, existing, done });
      return { ...done, left_out, findings };
    }),
});

type Imported = Record<"created" | "replaced" | "skipped", string[]>;

/** Puts a thing of a file into the library, where ours is not to stay. */
function bring<Word extends string, Thing>(
  id: string,
  thing: Thing,
  how: {
    ours: LibraryStore<Word, Thing>;
    word: Word;
    existing: z.infer<typeof Existing>;
    done: Imported;
  },
): void {
  const { ours, word, existing, done } = how;
  const before = ours.find(id);
  if (!before) {
    ours.create(nameFrom(id), thing);
    done.created.push(id);
  } else if (existing === "replace" && stateOf(thing, before[word]) === "differs") {
    ours.put(before.name, thing);
    done.replaced.push(id);
  } else done.skipped.push(id);
}

const stateOf = (theirs: unknown, ours: unknown): "new" | "same" | "differs" =>
  ours === undefined ? "new" : isSameJson(ours, theirs) ? "same" : "differs";
