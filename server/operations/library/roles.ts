import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import { uncheckedOfRole } from "@/server/domain/agent/unchecked";
import { Rejection } from "@/server/domain/errors/rejection";
import { plainRoleName } from "@/server/domain/library/plain-names";
import { countUses, usesOfRoles } from "@/server/domain/library/uses";
import { noteGrants } from "@/server/domain/run/audit";
import { writeRoles } from "@/server/interop/role-files";
import { usersOf } from "@/server/store/users";
import { copyName } from "@/server/store/workflows";
import { Finding } from "../common-schemas";
import { operationsOf } from "../operation";
import type { Place } from "../paging";
import type { Services } from "../services";
import { StoredRole } from "./library-schemas";

const { mutation, query } = operationsOf("Roles");

const ByName = z.object({ name: z.string() });

/** The role of this name. Throws not_found. */
export function roleOf({ roles }: Pick<Services, "roles">, name: string) {
  const stored = roles.find(name);
  if (!stored) throw noRole(name);
  return stored;
}

const noRole = (name: string) => new Rejection("not_found", `There is no role "${name}".`);
const nameTaken = (name: string) =>
  new Rejection("name_taken", `A role "${name}" already exists.`, undefined, {
    reason: "name_taken",
  });
const readOnly = (name: string, file: string) =>
  new Rejection(
    "read_only",
    `"${name}" is read from the file ${file}. Edit it there, or duplicate it.`,
    { file },
    { reason: "read_only" },
  );

/** A role, with what of its schemas and rules is not checked. */
const ReadRole = StoredRole.extend({ findings: z.array(Finding) });

const readRole = (services: Services, name: string): z.infer<typeof ReadRole> => {
  const stored = roleOf(services, name);
  const findings = uncheckedOfRole(stored.role).map((finding) => ({ level: "info" as const, ...finding }));
  return { ...stored, findings };
};

const withPlainName = (role: RoleDefinition): RoleDefinition => ({ ...role, name: plainRoleName(role.name) });

const toFileName = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") || "role";

/** The roles that workflows, crews and agents name. `used_by`: who names it. */
export const roleOperations = {
  list: query({
    name: "listRoles",
    summary: "List roles by name",
    needs: "read",
    input: z.void(),
    output: z.array(StoredRole),
    http: {
      route: "GET /roles",
      success: "A page of roles",
      as: "roles",
      page: ({ role }: z.output<typeof StoredRole>): Place => [role.name.toLowerCase(), role.name],
    },
    run(services) {
      const uses = usesOfRoles(usersOf(services));
      return services.roles
        .list()
        .map((stored) => ({ ...stored, used_by: uses.get(stored.role.name) ?? [] }));
    },
  }),

  /** Errors of the folder of roles; null if there is no folder. */
  folder: query({
    name: "getRoleFolder",
    summary: "Get the folder that roles are read from",
    needs: "read",
    input: z.void(),
    http: { browserOnly: "paths on this machine, for the roles page" },
    run: ({ roleFolder }) => roleFolder && { dir: roleFolder.dir, findings: [...roleFolder.findings()] },
  }),

  export: query({
    name: "exportRoles",
    summary: "Export roles as a file",
    needs: "read",
    input: z.object({ names: z.array(z.string()).optional(), format: z.enum(["yaml", "json"]) }),
    http: { browserOnly: "a file for people; programs use listRoles" },
    run(services, { names, format }) {
      const roles = services.roles.all().filter(({ name }) => !names || names.includes(name));
      const base = roles.length === 1 ? toFileName(roles[0]?.name ?? "") : "roles";
      return { file_name: `${base}.${format}`, text: writeRoles(roles, format) };
    },
  }),

  get: query({
    name: "getRole",
    summary: "Get a role",
    needs: "read",
    input: ByName,
    output: ReadRole,
    http: { route: "GET /roles/{name}", success: "The role; `ETag` is its revision", etag: true },
    run: (services, { name }) => ({
      ...readRole(services, name),
      used_by: usesOfRoles(usersOf(services)).get(name) ?? [],
    }),
  }),

  create: mutation({
    name: "createRole",
    summary: "Create a role",
    needs: "author",
    input: z.object({ role: RoleDefinition }),
    problems: ["name_taken"],
    audits: ["role_tools_changed"],
    output: ReadRole,
    http: {
      route: "POST /roles",
      body: "role",
      status: 201,
      success: "The role",
      location: "/roles/{name}",
    },
    run(services, input, { note }) {
      const role = withPlainName(input.role);
      if (!services.roles.create(role)) throw nameTaken(role.name);
      noteGrants(note, undefined, role);
      return { ...readRole(services, role.name), name: role.name };
    },
  }),

  save: mutation({
    name: "replaceRole",
    summary: "Replace a role",
    about: "If the name changes, every workflow, crew and agent that refers to the role is updated.",
    needs: "author",
    input: z.object({ name: z.string(), revision: z.number().int().optional(), role: RoleDefinition }),
    output: ReadRole,
    problems: ["not_found", "name_taken", "read_only", "changed_meanwhile"],
    audits: ["role_tools_changed"],
    http: { route: "PUT /roles/{name}", body: "role", success: "The role", etag: true },
    run(services, { name, revision, role: sent }, { note }) {
      // One that has such a name already keeps it until it is given another.
      const role = sent.name === name ? sent : withPlainName(sent);
      const before = roleOf(services, name);
      const result = services.roles.save(name, revision ?? before.revision, role);
      if (result.saved) {
        noteGrants(note, before.role, role);
        return { ...readRole(services, role.name), name: role.name, renamed_in: result.renamed_in };
      }
      if (result.reason === "name_taken") throw nameTaken(role.name);
      if (result.reason === "gone") throw noRole(name);
      if (result.reason === "read_only") throw readOnly(name, result.file);
      throw new Rejection(
        "changed_meanwhile",
        "This role was changed elsewhere. Reload it.",
        { revision: result.current.revision },
        { reason: "stale", role: result.current.role },
      );
    },
  }),

  duplicate: mutation({
    name: "duplicateRole",
    summary: "Duplicate a role with its tools",
    needs: "author",
    input: ByName,
    output: ByName,
    audits: ["role_tools_changed"],
    http: { route: "POST /roles/{name}/duplicate", status: 201, success: "The name of the copy" },
    run(services, input, { note }) {
      const { role } = roleOf(services, input.name);
      const taken = new Set(services.roles.all().map((other) => other.name));
      const name = copyName(role.name.slice(0, 70), taken);
      services.roles.create({ ...role, name });
      noteGrants(note, undefined, { ...role, name }, { copy_of: role.name });
      return { name };
    },
  }),

  remove: mutation({
    name: "deleteRole",
    summary: "Delete a role",
    about: "If workflows, crews or agents refer to the role, `force=true` is required.",
    needs: "author",
    input: ByName.extend({ force: z.boolean().default(false) }),
    problems: ["not_found", "read_only", "role_in_use"],
    audits: ["role_tools_changed"],
    http: { route: "DELETE /roles/{name}", success: "Deleted" },
    run(services, { name, force }, { note }) {
      const { origin, role } = roleOf(services, name);
      if (origin) throw readOnly(name, origin.file);
      const used_by = force ? [] : (usesOfRoles(usersOf(services)).get(name) ?? []);
      if (used_by.length > 0)
        throw new Rejection(
          "role_in_use",
          `"${name}" is used by ${countUses(used_by)}.`,
          { used_by },
          { reason: "used" },
        );
      services.roles.remove(name);
      noteGrants(note, role, undefined);
    },
  }),
};
