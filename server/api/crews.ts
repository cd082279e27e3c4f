import { z } from "zod";
import { agentsOfCrew } from "@/server/domain/library/agent-use";
import { crewWith } from "@/server/domain/library/library";
import { rolesOfCrew } from "@/server/domain/library/role-use";
import { writeTeams } from "@/server/interop/team-files";
import { crewOperations } from "@/server/operations/library";
import { procedures } from "./expose";
import { procedure, router } from "./trpc";

/** The library of crews, one by one and as files; these come in by imports.importFiles. */
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
});
