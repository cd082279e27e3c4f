import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { isSameJson } from "@/server/domain/base/values";
import { CrewConfig } from "@/server/domain/crew/crew";
import { agentsOfCrew } from "@/server/domain/library/agent-use";
import { crewWith, type Library } from "@/server/domain/library/library";
import { rolesOfCrew } from "@/server/domain/library/role-use";
import { countUses, usesOfCrews } from "@/server/domain/library/uses";
import { readTeams, writeTeams } from "@/server/interop/team-files";
import type { StoredCrew } from "@/server/store/crews";
import type { LibraryStore } from "@/server/store/library";
import { usersOf } from "@/server/store/users";
import { copyName } from "@/server/store/workflows";
import { ById, FileText, idFrom, Name, nameFrom } from "./library";
import { AllowTools, bringRoles, seenRole } from "./role-import";
import { procedure, refusal, router } from "./trpc";

const Existing = z.enum(["skip", "replace"]);

/** The library of crews, one by one and as files, in which agents of the library may stand beside them. */
export const crewsRouter = router({
  list: procedure.query(({ ctx }) => {
    const uses = usesOfCrews(usersOf(ctx.troupe));
    const { crews, library } = ctx.troupe;
    return crews.list().map((stored) => ({ ...whole(stored, library), used_by: uses.get(stored.id) ?? [] }));
  }),

  /** The id is made from the name. */
  create: procedure.input(z.object({ name: Name, crew: CrewConfig })).mutation(({ ctx, input }) => {
    const id = idFrom(input.name, "crew", ctx.troupe.crews.list());
    ctx.troupe.crews.create(input.name, { ...input.crew, crew_id: id });
    return { id };
  }),

  save: procedure
    .input(z.object({ id: z.string(), revision: z.number().int(), name: Name, crew: CrewConfig }))
    .mutation(({ ctx, input }) => {
      const result = ctx.troupe.crews.save(input);
      if (result.saved) return { revision: result.revision };
      if (!result.current) return notFound();
      throw refusal("CONFLICT", "This crew was changed in another place.", {
        reason: "stale",
        current: whole(result.current, ctx.troupe.library),
      });
    }),

  duplicate: procedure.input(ById).mutation(({ ctx, input }) => {
    const { crews } = ctx.troupe;
    const { name, crew } = crews.find(input.id) ?? notFound();
    const copy = copyName(name.slice(0, 180), new Set(crews.list().map((other) => other.name)));
    const id = idFrom(copy, "crew", crews.list());
    crews.create(copy, { ...crew, crew_id: id });
    return { id };
  }),

  remove: procedure
    .input(z.object({ id: z.string(), force: z.boolean().default(false) }))
    .mutation(({ ctx, input }) => {
      const used_by = usesOfCrews(usersOf(ctx.troupe)).get(input.id) ?? [];
      if (used_by.length > 0 && !input.force)
        throw refusal("CONFLICT", `This crew is used by ${countUses(used_by)}.`, { reason: "used", used_by });
      if (!ctx.troupe.crews.remove(input.id)) notFound();
    }),

  /** Brings a crew back as it was, with its id; refused where that is taken again. */
  restore: procedure.input(z.object({ name: Name, crew: CrewConfig })).mutation(({ ctx, input }) => {
    if (!ctx.troupe.crews.create(input.name, input.crew))
      throw refusal("CONFLICT", `There is a crew "${input.crew.crew_id}" again already.`);
    return { id: input.crew.crew_id };
  }),

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

/** With the present settings of its members of the library. */
const whole = (stored: StoredCrew, library: Library): StoredCrew => ({
  ...stored,
  crew: crewWith(stored.crew, library),
});

function notFound(): never {
  throw new TRPCError({ code: "NOT_FOUND", message: "This crew does not exist, or was deleted." });
}
