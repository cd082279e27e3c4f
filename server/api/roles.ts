import { z } from "zod";
import { readRoles, writeRoles } from "@/server/interop/role-files";
import { roleOperations } from "@/server/operations/roles";
import { procedures } from "./expose";
import { AllowTools, bringRoles, seenRole } from "./role-import";
import { procedure, router } from "./trpc";

const FileText = z.string().max(5 * 1024 * 1024, "The file is larger than 5 MB");

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

  /** Says what an import would bring; changes nothing. */
  previewImport: procedure.input(z.object({ text: FileText })).mutation(({ ctx, input }) => {
    const { roles, findings } = readRoles(input.text);
    return { roles: roles.map((role) => seenRole(role, ctx.troupe.roles)), findings };
  }),

  import: procedure
    .input(
      z.object({
        text: FileText,
        existing: z.enum(["skip", "replace"]).default("skip"),
        allow_tools: AllowTools,
      }),
    )
    .mutation(({ ctx, input: { text, ...how } }) => {
      const { roles, findings } = readRoles(text);
      return { ...bringRoles(roles, { store: ctx.troupe.roles, note: ctx.note, ...how }), findings };
    }),
});

const fileWord = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") || "role";
