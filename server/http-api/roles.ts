import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import { uncheckedOfRole } from "@/server/domain/agent/unchecked";
import { countUses, usesOfRoles } from "@/server/domain/library/uses";
import { noteGrants } from "@/server/domain/run/audit";
import { notFound, Problem } from "@/server/operations/problem";
import { Finding, Page, StoredRole } from "@/server/operations/schemas";
import { usersOf } from "@/server/store/users";
import { type Call, endpoint } from "./endpoint";
import { byName, expectedRevision, IF_MATCH, pageOf } from "./paging";

/** A role, with what of its schemas and rules is not checked. */
const ReadRole = StoredRole.extend({ findings: z.array(Finding) });

const told = (services: Call["services"], name: string): z.infer<typeof ReadRole> => {
  const stored = found(services, name);
  const findings = uncheckedOfRole(stored.role).map((finding) => ({ level: "info" as const, ...finding }));
  return { ...stored, findings };
};
const found = (services: Call["services"], name: string) => {
  const role = services.roles.find(name);
  if (!role) throw notFound("role");
  return role;
};
const nameTaken = (name: string) => new Problem("name_taken", `A role "${name}" exists already.`);

/** Who names a role. */
const usesOf = (services: Call["services"], name: string) => usesOfRoles(usersOf(services)).get(name) ?? [];

export const roleEndpoints = [
  endpoint({
    method: "GET",
    path: "/roles",
    name: "listRoles",
    summary: "Lists roles by name",
    tag: "Roles",
    query: Page,
    success: {
      status: 200,
      about: "A page of roles",
      schema: z.object({ roles: z.array(StoredRole), next_cursor: z.string().nullable() }),
    },
    answer({ services, query }) {
      const all = services.roles.list();
      const { items, next_cursor } = pageOf(
        all,
        query,
        ({ role }) => [role.name.toLowerCase(), role.name],
        byName,
      );
      return { body: { roles: items, next_cursor } };
    },
  }),

  endpoint({
    method: "POST",
    path: "/roles",
    name: "createRole",
    summary: "Adds a role",
    tag: "Roles",
    body: RoleDefinition,
    success: { status: 201, about: "The role", schema: ReadRole },
    refusals: [409],
    answer({ services, body, note }) {
      if (!services.roles.create(body)) throw nameTaken(body.name);
      noteGrants(note, undefined, body);
      return {
        status: 201,
        body: told(services, body.name),
        headers: { location: `/api/v1/roles/${encodeURIComponent(body.name)}` },
      };
    },
  }),

  endpoint({
    method: "GET",
    path: "/roles/{name}",
    name: "getRole",
    summary: "One role",
    tag: "Roles",
    success: { status: 200, about: "The role; `ETag` is its revision", schema: ReadRole },
    refusals: [404],
    answer({ services, params }) {
      const role = told(services, params.name);
      return { body: role, headers: { etag: `"${role.revision}"` } };
    },
  }),

  endpoint({
    method: "PUT",
    path: "/roles/{name}",
    name: "replaceRole",
    summary: "Replaces a role",
    about: "A new name is written into every workflow, crew and agent that names the role.",
    tag: "Roles",
    body: RoleDefinition,
    reads: { "If-Match": IF_MATCH },
    success: { status: 200, about: "The role", schema: ReadRole },
    refusals: [404, 409, 412],
    answer({ services, params, body, headers, note }) {
      const before = found(services, params.name);
      const result = services.roles.save(params.name, expectedRevision(headers) ?? before.revision, body);
      if (result.saved) {
        noteGrants(note, before.role, body);
        return { body: told(services, body.name), headers: { etag: `"${result.revision}"` } };
      }
      if (result.reason === "name_taken") throw nameTaken(body.name);
      if (result.reason === "gone") throw notFound("role");
      if (result.reason === "read_only") throw readOnly(body.name, result.file);
      throw new Problem("changed_meanwhile", "The role was changed in between.", {
        revision: result.current.revision,
      });
    },
  }),

  endpoint({
    method: "DELETE",
    path: "/roles/{name}",
    name: "deleteRole",
    summary: "Deletes a role",
    about: "A role that workflows, crews or agents name is deleted only with `force=true`.",
    tag: "Roles",
    query: z.object({ force: z.stringbool().default(false) }),
    success: { status: 204, about: "It is gone" },
    refusals: [404, 409],
    answer({ services, params, query, note }) {
      const { origin, role } = found(services, params.name);
      if (origin) throw readOnly(params.name, origin.file);
      const used_by = query.force ? [] : usesOf(services, params.name);
      if (used_by.length > 0)
        throw new Problem("role_in_use", `This role is used by ${countUses(used_by)}.`, { used_by });
      services.roles.remove(params.name);
      noteGrants(note, role, undefined);
      return { status: 204 };
    },
  }),
];

/** 409: no other token or revision would help. */
function readOnly(name: string, file: string): Problem {
  return new Problem("read_only", `"${name}" is read from the file ${file}; change it there.`, {
    file,
  });
}
