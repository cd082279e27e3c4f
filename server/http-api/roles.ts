import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import { uncheckedOfRole } from "@/server/domain/agent/unchecked";
import { Finding, Page } from "@/server/operations/common-schemas";
import { StoredRole } from "@/server/operations/library-schemas";
import { roleOf, roleOperations } from "@/server/operations/roles";
import type { Services } from "@/server/operations/services";
import { endpoint } from "./endpoint";
import { endpointsOf, performFor } from "./expose";
import { byName, expectedRevision, IF_MATCH, pageOf } from "./paging";

/** A role, with what of its schemas and rules is not checked. */
const ReadRole = StoredRole.extend({ findings: z.array(Finding) });

const toReadRole = (services: Services, name: string): z.infer<typeof ReadRole> => {
  const stored = roleOf(services, name);
  const findings = uncheckedOfRole(stored.role).map((finding) => ({ level: "info" as const, ...finding }));
  return { ...stored, findings };
};

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
    answer(call) {
      const { query } = call;
      const all = performFor(roleOperations.list, undefined, call).map(
        ({ used_by: _usedBy, ...stored }) => stored,
      );
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
    answer(call) {
      const { services, body } = call;
      const { name } = performFor(roleOperations.create, { role: body }, call);
      return {
        status: 201,
        body: toReadRole(services, name),
        headers: { location: `/api/v1/roles/${encodeURIComponent(name)}` },
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
      const role = toReadRole(services, params.name);
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
    answer(call) {
      const { services, params, body, headers } = call;
      const before = roleOf(services, params.name);
      const input = { name: params.name, revision: expectedRevision(headers) ?? before.revision, role: body };
      const { name, revision } = performFor(roleOperations.save, input, call);
      return { body: toReadRole(services, name), headers: { etag: `"${revision}"` } };
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
    answer(call) {
      performFor(roleOperations.remove, { ...call.params, ...call.query }, call);
      return { status: 204 };
    },
  }),

  ...endpointsOf(roleOperations),
];
