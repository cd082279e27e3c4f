import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { RoleDefinition } from "@/server/domain/role";
import { roleUses } from "@/server/domain/role-use";
import { readRoles, writeRoles } from "@/server/interop/role-files";
import type { WorkflowStore } from "@/server/store/workflows";
import { copyName } from "@/server/store/workflows";
import { procedure, refusal, router } from "./trpc";
import { roleState } from "./workflows";

const ByName = z.object({ name: z.string() });
const FileText = z.string().max(5 * 1024 * 1024, "The file is larger than 5 MB");

export interface RoleUse {
  workflow_id: string;
  workflow_name: string;
  node_ids: string[];
}

/** The roles that workflows name, one by one and as files. */
export const rolesRouter = router({
  list: procedure.query(({ ctx }) => {
    const uses = allUses(ctx.troupe.workflows);
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
    return { ...stored, used_by: allUses(ctx.troupe.workflows).get(input.name) ?? [] };
  }),

  create: procedure.input(z.object({ role: RoleDefinition })).mutation(({ ctx, input }) => {
    if (!ctx.troupe.roles.create(input.role)) throw nameTaken(input.role.name);
    return { name: input.role.name };
  }),

  /** A new name is written into every workflow that names the role. */
  save: procedure
    .input(z.object({ name: z.string(), revision: z.number().int(), role: RoleDefinition }))
    .mutation(({ ctx, input }) => {
      const result = ctx.troupe.roles.save(input.name, input.revision, input.role);
      if (result.saved) return { revision: result.revision, workflows_changed: result.workflows_changed };
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
    return { name };
  }),

  remove: procedure
    .input(z.object({ name: z.string(), force: z.boolean().default(false) }))
    .mutation(({ ctx, input }) => {
      const origin = ctx.troupe.roles.find(input.name)?.origin;
      if (origin) throw readOnly(input.name, origin.file);
      const used_by = allUses(ctx.troupe.workflows).get(input.name) ?? [];
      if (used_by.length > 0 && !input.force)
        throw refusal("CONFLICT", `"${input.name}" is used by ${count(used_by.length, "workflow")}.`, {
          reason: "used",
          used_by,
        });
      if (!ctx.troupe.roles.remove(input.name)) notFound(input.name);
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
    return { roles: roles.map((role) => ({ role, state: roleState(role, ctx.troupe.roles) })), findings };
  }),

  import: procedure
    .input(z.object({ text: FileText, existing: z.enum(["skip", "replace"]).default("skip") }))
    .mutation(({ ctx, input }) => {
      const { roles, findings } = readRoles(input.text);
      const done = { created: [] as string[], replaced: [] as string[], skipped: [] as string[], findings };
      for (const role of roles) {
        const state = roleState(role, ctx.troupe.roles);
        if (state === "new") {
          ctx.troupe.roles.create(role);
          done.created.push(role.name);
        } else if (
          state === "differs" &&
          input.existing === "replace" &&
          !ctx.troupe.roles.find(role.name)?.origin
        ) {
          ctx.troupe.roles.put(role);
          done.replaced.push(role.name);
        } else done.skipped.push(role.name);
      }
      return done;
    }),
});

/** Which workflows name which role, and at which nodes. */
function allUses(workflows: WorkflowStore): Map<string, RoleUse[]> {
  const uses = new Map<string, RoleUse[]>();
  for (const { id, name, graph } of workflows.list())
    for (const [role, node_ids] of roleUses(graph)) {
      const use = { workflow_id: id, workflow_name: name, node_ids };
      const known = uses.get(role);
      if (known) known.push(use);
      else uses.set(role, [use]);
    }
  return uses;
}

const count = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`;

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
