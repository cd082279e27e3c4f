import { z } from "zod";
import { writeTeams } from "@/server/interop/team-files";
import { agentOperations } from "@/server/operations/library";
import { procedures } from "./expose";
import { procedure, router } from "./trpc";

/** The library of agents, one by one and as files; files come in by imports.importFiles. */
export const agentsRouter = router({
  ...procedures(agentOperations),

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
