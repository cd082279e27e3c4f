import { z } from "zod";
import { writeRoles } from "@/server/interop/role-files";
import { roleOperations } from "@/server/operations/roles";
import { procedures } from "./expose";
import { procedure, router } from "./trpc";

/** The roles that workflows, crews and agents name, one by one and as files. */
export const rolesRouter = router({
  ...procedures(roleOperations),

  /** What could not be read in the folder of roles; null where there is no folder. */
  folder: procedure.query(({ ctx }) => {
    const { roleFolder } = ctx.troupe;
    return roleFolder && { dir: roleFolder.dir, findings: [...roleFolder.findings()] };
  }),

  export: procedure
    .input(z.object({ names: z.array(z.string()).optional(), format: z.enum(["yaml", "json"]) }))
    .query(({ ctx, input }) => {
      const roles = ctx.troupe.roles.all().filter(({ name }) => !input.names || input.names.includes(name));
      const base = roles.length === 1 ? fileWord(roles[0]?.name ?? "role") : "roles";
      return { file_name: `${base}.${input.format}`, text: writeRoles(roles, input.format) };
    }),
});

const fileWord = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") || "role";
