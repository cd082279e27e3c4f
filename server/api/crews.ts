import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { noteGrants } from "@/server/domain/audit";
import { CrewConfig } from "@/server/domain/crew";
import { freshId, toId } from "@/server/domain/ids";
import { countUses, usesOfCrews } from "@/server/domain/uses";
import { isSameJson } from "@/server/domain/values";
import { readTeams, type Teams, writeTeams } from "@/server/interop/team-files";
import type { CrewStore } from "@/server/store/crews";
import { copyName } from "@/server/store/workflows";
import { usersOf } from "./library";
import { procedure, refusal, router } from "./trpc";
import { roleState } from "./workflows";

const ById = z.object({ id: z.string() });
const Name = z.string().trim().min(1, "Give it a name").max(200, "At most 200 characters");
const FileText = z.string().max(5 * 1024 * 1024, "The file is larger than 5 MB");

/** The library of crews, one by one and as files. */
export const crewsRouter = router({
  list: procedure.query(({ ctx }) => {
    const uses = usesOfCrews(usersOf(ctx.troupe));
    return ctx.troupe.crews.list().map((stored) => ({ ...stored, used_by: uses.get(stored.id) ?? [] }));
  }),

  /** The id is made from the name. */
  create: procedure.input(z.object({ name: Name, crew: CrewConfig })).mutation(({ ctx, input }) => {
    const id = newCrewId(input.name, ctx.troupe.crews);
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
        current: result.current,
      });
    }),

  duplicate: procedure.input(ById).mutation(({ ctx, input }) => {
    const { crews } = ctx.troupe;
    const { name, crew } = crews.find(input.id) ?? notFound();
    const copy = copyName(name.slice(0, 180), new Set(crews.list().map((other) => other.name)));
    const id = newCrewId(copy, crews);
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

  /** With the roles of its agents. */
  export: procedure
    .input(z.object({ ids: z.array(z.string()).optional(), format: z.enum(["yaml", "json"]) }))
    .query(({ ctx, input }) => {
      const crews = ctx.troupe.crews.list().filter(({ id }) => !input.ids || input.ids.includes(id));
      const named = new Set(crews.flatMap(({ crew }) => crew.agents.map(({ role_name }) => role_name)));
      const roles = ctx.troupe.roles.all().filter(({ name }) => named.has(name));
      const base = crews.length === 1 ? (crews[0]?.id ?? "crew") : "crews";
      return {
        file_name: `${base}.${input.format}`,
        text: writeTeams({ crews: crews.map(({ crew }) => crew), roles }, input.format),
      };
    }),

  /** Says what an import would bring; changes nothing. */
  previewImport: procedure.input(z.object({ text: FileText })).mutation(({ ctx, input }) => {
    const { crews, roles, findings } = readFile(input.text);
    return {
      crews: crews.map((crew) => ({ crew, state: stateOf(crew, ctx.troupe.crews) })),
      roles: roles.map((role) => ({ role, state: roleState(role, ctx.troupe.roles) })),
      findings,
    };
  }),

  /** Roles of the file are added where there is none of the name; ours stay as they are. */
  import: procedure
    .input(z.object({ text: FileText, existing: z.enum(["skip", "replace"]).default("skip") }))
    .mutation(({ ctx, input }) => {
      const { crews, roles, findings } = readFile(input.text);
      const done = { created: [] as string[], replaced: [] as string[], skipped: [] as string[], findings };
      for (const role of roles)
        if (ctx.troupe.roles.create(role)) noteGrants(ctx.note, undefined, role, { from: "file" });
      for (const crew of crews) {
        const state = stateOf(crew, ctx.troupe.crews);
        if (state === "new") {
          ctx.troupe.crews.create(nameFrom(crew.crew_id), crew);
          done.created.push(crew.crew_id);
        } else if (state === "differs" && input.existing === "replace") {
          const name = ctx.troupe.crews.find(crew.crew_id)?.name ?? nameFrom(crew.crew_id);
          ctx.troupe.crews.put(name, crew);
          done.replaced.push(crew.crew_id);
        } else done.skipped.push(crew.crew_id);
      }
      return done;
    }),
});

/** A file of teams, as the library can keep it: agents belong to a crew here. */
function readFile(
  text: string,
): Pick<Teams, "crews" | "roles"> & Pick<ReturnType<typeof readTeams>, "findings"> {
  const { crews, roles, agents, findings } = readTeams(text);
  const loose = agents.map(({ agent_id }) => ({
    level: "dropped" as const,
    at: `agents.${agent_id}`,
    message: `The agent "${agent_id}" belongs to no crew of the file and was left out.`,
  }));
  return { crews, roles, findings: [...findings, ...loose] };
}

function stateOf(crew: CrewConfig, store: CrewStore): "new" | "same" | "differs" {
  const ours = store.find(crew.crew_id)?.crew;
  return !ours ? "new" : isSameJson(ours, crew) ? "same" : "differs";
}

const newCrewId = (name: string, crews: CrewStore) =>
  freshId(toId(name).toLowerCase() || "crew", new Set(crews.list().map(({ id }) => id)));

/** research_team -> Research team */
function nameFrom(id: string): string {
  const words = id.replace(/[_-]+/g, " ").trim() || id;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function notFound(): never {
  throw new TRPCError({ code: "NOT_FOUND", message: "This crew does not exist, or was deleted." });
}
