import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import { countUses, usesOfRoles } from "@/server/domain/library/uses";
import { noteGrants } from "@/server/domain/run/audit";
import { readRoles, writeRoles } from "@/server/interop/role-files";
import { usersOf } from "@/server/store/users";
import { copyName } from "@/server/store/workflows";
import { AllowTools, bringRoles, seenRole } from "./role-import";
import { procedure, refusal, router } from "./trpc";

const ByName = z.object({ name: z.string() });
const FileText = z.string().max(5 * 1024 * 1024, "The file is larger than 5 MB");

/** The roles that workflows, crews and agents name, one by one and as files. */
export const rolesRouter = router({
  list: procedure.query(({ ctx }) => {
    const uses = usesOfRoles(usersOf(ctx.troupe));
    return ctx.troupe.roles
      .list()
      .map((stored) => ({ ...stored, used_by: uses.get(stored.role.name) ?? [] }));
  }),

  /** What could not be read in the folder of roles; null where there is no folder. */
  folder: procedure.query(({ ctx }) => {
    const { roleFolder } = ctx.troupe;
    return roleFolder && { dir: roleFolder.dir, findings: [...roleFolder.findings()] };
  }),

  get: procedure.input(ByName).query(({ ctx, input }) => {
    const stored = ctx.troupe.roles.find(input.name) ?? notFound(input.name);
    return { ...stored, used_by: usesOfRoles(usersOf(ctx.troupe)).get(input.name) ?? [] };
  }),

  create: procedure.input(z.object({ role: RoleDefinition })).mutation(({ ctx, input }) => {
    if (!ctx.troupe.roles.create(input.role)) throw nameTaken(input.role.name);
    noteGrants(ctx.note, undefined, input.role);
    return { name: input.role.name };
  }),

  /** A new name is written into every workflow, crew and agent that names the role. */
  save: procedure
    .input(z.object({ name: z.string(), revision: z.number().int(), role: RoleDefinition }))
    .mutation(({ ctx, input }) => {
      const before = ctx.troupe.roles.find(input.name)?.role;
      const result = ctx.troupe.roles.save(input.name, input.revision, input.role);
      if (result.saved) {
        noteGrants(ctx.note, before, input.role);
        return { revision: result.revision, renamed_in: result.renamed_in };
      }
      if (result.reason === "name_taken") throw nameTaken(input.role.name);
      if (result.reason === "gone") return notFound(input.name);
      if (result.reason === "read_only") throw readOnly(input.name, result.file);
      const { role, revision } = result.current;
      throw refusal("CONFLICT", "This role was changed in another place.", {
        reason: "stale",
        role,
        revision,
      });
    }),

  duplicate: procedure.input(ByName).mutation(({ ctx, input }) => {
    const { role } = ctx.troupe.roles.find(input.name) ?? notFound(input.name);
    const name = copyName(role.name.slice(0, 70), new Set(ctx.troupe.roles.all().map((other) => other.name)));
    ctx.troupe.roles.create({ ...role, name });
    noteGrants(ctx.note, undefined, { ...role, name }, { copy_of: role.name });
    return { name };
  }),

  remove: procedure
    .input(z.object({ name: z.string(), force: z.boolean().default(false) }))
    .mutation(({ ctx, input }) => {
      const before = ctx.troupe.roles.find(input.name);
      if (before?.origin) throw readOnly(input.name, before.origin.file);
      const used_by = usesOfRoles(usersOf(ctx.troupe)).get(input.name) ?? [];
      if (used_by.length > 0 && !input.force)
        throw refusal("CONFLICT", `"${input.name}" is used by ${countUses(used_by)}.`, {
          reason: "used",
          used_by,
        });
      if (!ctx.troupe.roles.remove(input.name)) notFound(input.name);
      noteGrants(ctx.note, before?.role, undefined);
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

function nameTaken(name: string) {
  return refusal("CONFLICT", `There is already a role called "${name}".`, { reason: "name_taken" });
}

function readOnly(name: string, file: string) {
  return refusal("FORBIDDEN", `"${name}" is read from the file ${file}; change it there, or duplicate it.`, {
    reason: "read_only",
    file,
  });
}

function notFound(name: string): never {
  throw new TRPCError({ code: "NOT_FOUND", message: `There is no role called "${name}".` });
}
