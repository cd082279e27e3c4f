import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import { plainRoleName } from "@/server/domain/library/plain-names";
import { countUses, usesOfRoles } from "@/server/domain/library/uses";
import { noteGrants } from "@/server/domain/run/audit";
import { usersOf } from "@/server/store/users";
import { copyName } from "@/server/store/workflows";
import { operationsOf } from "./operation";
import { Problem } from "./problem";
import type { Services } from "./services";

const { mutation, query } = operationsOf("Roles");

const ByName = z.object({ name: z.string() });

/** The role of this name. Throws not_found. */
export function roleOf({ roles }: Pick<Services, "roles">, name: string) {
  const stored = roles.find(name);
  if (!stored) throw noRole(name);
  return stored;
}

const noRole = (name: string) => new Problem("not_found", `There is no role called "${name}".`);
const nameTaken = (name: string) =>
  new Problem("name_taken", `There is already a role called "${name}".`, undefined, {
    editor: { reason: "name_taken" },
  });
const readOnly = (name: string, file: string) =>
  new Problem(
    "read_only",
    `"${name}" is read from the file ${file}; change it there, or duplicate it.`,
    { file },
    { editor: { reason: "read_only" } },
  );

const withPlainName = (role: RoleDefinition): RoleDefinition => ({ ...role, name: plainRoleName(role.name) });

/** The roles that workflows, crews and agents name. `used_by`: who names it. */
export const roleOperations = {
  list: query({
    name: "listRoles",
    summary: "Lists roles by name",
    needs: "read",
    input: z.void(),
    http: { own: "a list in pages, by a cursor" },
    run(services) {
      const uses = usesOfRoles(usersOf(services));
      return services.roles
        .list()
        .map((stored) => ({ ...stored, used_by: uses.get(stored.role.name) ?? [] }));
    },
  }),

  get: query({
    name: "getRole",
    summary: "One role",
    needs: "read",
    input: ByName,
    problems: ["not_found"],
    http: { own: "its revision goes out as ETag" },
    run: (services, { name }) => ({
      ...roleOf(services, name),
      used_by: usesOfRoles(usersOf(services)).get(name) ?? [],
    }),
  }),

  create: mutation({
    name: "createRole",
    summary: "Adds a role",
    needs: "author",
    input: z.object({ role: RoleDefinition }),
    problems: ["name_taken"],
    audits: ["role_tools_changed"],
    http: { own: "201 with a location" },
    run({ roles }, input, { note }) {
      const role = withPlainName(input.role);
      if (!roles.create(role)) throw nameTaken(role.name);
      noteGrants(note, undefined, role);
      return { name: role.name };
    },
  }),

  save: mutation({
    name: "replaceRole",
    summary: "Saves a role where nobody changed it meanwhile",
    about: "A new name is written into every workflow, crew and agent that names the role.",
    needs: "author",
    input: z.object({ name: z.string(), revision: z.number().int(), role: RoleDefinition }),
    problems: ["not_found", "name_taken", "read_only", "changed_meanwhile"],
    audits: ["role_tools_changed"],
    http: { own: "its revision comes in as If-Match and goes out as ETag" },
    run({ roles }, { name, revision, role: sent }, { note }) {
      // One that has such a name already keeps it until it is given another.
      const role = sent.name === name ? sent : withPlainName(sent);
      const before = roles.find(name)?.role;
      const result = roles.save(name, revision, role);
      if (result.saved) {
        noteGrants(note, before, role);
        return { name: role.name, revision: result.revision, renamed_in: result.renamed_in };
      }
      if (result.reason === "name_taken") throw nameTaken(role.name);
      if (result.reason === "gone") throw noRole(name);
      if (result.reason === "read_only") throw readOnly(name, result.file);
      throw new Problem(
        "changed_meanwhile",
        "This role was changed in another place.",
        { revision: result.current.revision },
        {
          editor: { reason: "stale", role: result.current.role },
        },
      );
    },
  }),

  duplicate: mutation({
    name: "duplicateRole",
    summary: "Makes a copy of a role, with its tools",
    needs: "author",
    input: ByName,
    output: ByName,
    problems: ["not_found"],
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
    summary: "Deletes a role",
    needs: "author",
    input: ByName.extend({ force: z.boolean().default(false) }),
    problems: ["not_found", "read_only", "role_in_use"],
    audits: ["role_tools_changed"],
    http: { own: "force comes as a text in the address" },
    run(services, { name, force }, { note }) {
      const { origin, role } = roleOf(services, name);
      if (origin) throw readOnly(name, origin.file);
      const used_by = force ? [] : (usesOfRoles(usersOf(services)).get(name) ?? []);
      if (used_by.length > 0)
        throw new Problem(
          "role_in_use",
          `"${name}" is used by ${countUses(used_by)}.`,
          { used_by },
          { editor: { reason: "used" } },
        );
      services.roles.remove(name);
      noteGrants(note, role, undefined);
    },
  }),
};
