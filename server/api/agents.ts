import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { AgentConfig } from "@/server/domain/agent/role";
import { countUses, usesOfAgents } from "@/server/domain/library/uses";
import { writeTeams } from "@/server/interop/team-files";
import { usersOf } from "@/server/store/users";
import { copyName } from "@/server/store/workflows";
import { ById, idFrom, Name } from "./library";
import { procedure, refusal, router } from "./trpc";

/** An agent of the library is no member of anything. */
const LibraryAgent = AgentConfig.omit({ agent_ref: true });

/** The library of agents, one by one and as files; files are read with crews.import. */
export const agentsRouter = router({
  list: procedure.query(({ ctx }) => {
    const uses = usesOfAgents(usersOf(ctx.troupe));
    return ctx.troupe.agents.list().map((stored) => ({ ...stored, used_by: uses.get(stored.id) ?? [] }));
  }),

  /** The id is made from the name. */
  create: procedure.input(z.object({ name: Name, agent: LibraryAgent })).mutation(({ ctx, input }) => {
    const id = idFrom(input.name, "agent", ctx.troupe.agents.list());
    ctx.troupe.agents.create(input.name, { ...input.agent, agent_id: id });
    return { id };
  }),

  save: procedure
    .input(z.object({ id: z.string(), revision: z.number().int(), name: Name, agent: LibraryAgent }))
    .mutation(({ ctx, input }) => {
      const result = ctx.troupe.agents.save(input);
      if (result.saved) return { revision: result.revision };
      if (!result.current) return notFound();
      throw refusal("CONFLICT", "This agent was changed in another place.", {
        reason: "stale",
        current: result.current,
      });
    }),

  duplicate: procedure.input(ById).mutation(({ ctx, input }) => {
    const { agents } = ctx.troupe;
    const { name, agent } = agents.find(input.id) ?? notFound();
    const all = agents.list();
    const copy = copyName(name.slice(0, 180), new Set(all.map((other) => other.name)));
    const id = idFrom(copy, "agent", all);
    agents.create(copy, { ...agent, agent_id: id });
    return { id };
  }),

  remove: procedure
    .input(z.object({ id: z.string(), force: z.boolean().default(false) }))
    .mutation(({ ctx, input }) => {
      const used_by = usesOfAgents(usersOf(ctx.troupe)).get(input.id) ?? [];
      if (used_by.length > 0 && !input.force)
        throw refusal("CONFLICT", `This agent is used by ${countUses(used_by)}.`, {
          reason: "used",
          used_by,
        });
      if (!ctx.troupe.agents.remove(input.id)) notFound();
    }),

  /** Brings an agent back as it was, with its id; refused where that is taken again. */
  restore: procedure.input(z.object({ name: Name, agent: LibraryAgent })).mutation(({ ctx, input }) => {
    if (!ctx.troupe.agents.create(input.name, input.agent))
      throw refusal("CONFLICT", `There is an agent "${input.agent.agent_id}" again already.`);
    return { id: input.agent.agent_id };
  }),

  /** With the roles of the agents. */
  export: procedure
    .input(z.object({ ids: z.array(z.string()).optional(), format: z.enum(["yaml", "json"]) }))
    .query(({ ctx, input }) => {
      const agents = ctx.troupe.agents.list().filter(({ id }) => !input.ids || input.ids.includes(id));
      const named = new Set(agents.map(({ agent }) => agent.role_name));
      const roles = ctx.troupe.roles.all().filter(({ name }) => named.has(name));
      const base = agents.length === 1 ? (agents[0]?.id ?? "agent") : "agents";
      return {
        file_name: `${base}.${input.format}`,
        text: writeTeams({ agents: agents.map(({ agent }) => agent), roles }, input.format),
      };
    }),
});

function notFound(): never {
  throw new TRPCError({ code: "NOT_FOUND", message: "This agent does not exist, or was deleted." });
}
