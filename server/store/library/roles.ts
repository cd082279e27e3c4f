import { and, asc, eq, sql } from "drizzle-orm";
import { type Db, writeTransaction } from "@/db/open";
import { roles } from "@/db/schema";
import { RoleDefinition } from "@/server/domain/agent/role";
import { canonicalJson } from "@/server/domain/base/json";
import { agentWithRoleRenamed, crewWithRoleRenamed } from "@/server/domain/library/role-use";
import { ownJson } from "../own-json";
import { newSettingStore } from "../settings";
import { WorkflowStore } from "../workflows";
import { type AgentStore, newAgentStore } from "./agents";
import { type CrewStore, newCrewStore } from "./crews";
import { Shelf } from "./shelf";

export interface StoredRole {
  role: RoleDefinition;
  revision: number;
  /** It came with Troupe. */
  builtin: boolean;
  updated_at: number;
  /** Where it comes from if not from here: it is read from a file, and only changed there. */
  origin?: { kind: "folder"; file: string };
}

/** Roles from files. They hide roles of the same name in the database. */
export interface RoleSource {
  roles(): readonly { role: RoleDefinition; file: string }[];
}

export type RoleSaveResult =
  /** `renamed_in`: how many named the role by its old name, and now name it by its new one. */
  | { saved: true; revision: number; renamed_in: Record<"workflows" | "crews" | "agents", number> }
  | { saved: false; reason: "stale"; current: StoredRole }
  | { saved: false; reason: "gone" }
  | { saved: false; reason: "name_taken" }
  | { saved: false; reason: "read_only"; file: string };

/** The names that were ever seeded, so that a role which someone deleted does not come back at the next start. */
const SEEDED = "roles.seeded";

const is = (name: string) => eq(roles.name, name);

const toStored = (row: typeof roles.$inferSelect): StoredRole => ({
  role: RoleDefinition.parse(JSON.parse(row.content)),
  revision: row.revision,
  builtin: row.builtin,
  updated_at: row.updatedAt,
});

const fromFolder = ({ role, file }: { role: RoleDefinition; file: string }): StoredRole => ({
  role,
  revision: 1,
  builtin: false,
  updated_at: 0,
  origin: { kind: "folder", file },
});

const rowOf = (role: RoleDefinition) => ({ name: role.name, content: canonicalJson(role) });

/** The roles that workflows may name. */
export class RoleStore {
  private readonly workflows: WorkflowStore;
  private readonly crews: CrewStore;
  private readonly agents: AgentStore;
  private readonly shelf: Shelf<typeof roles>;

  constructor(
    private readonly db: Db,
    now: () => number = Date.now,
    private readonly folder: RoleSource = { roles: () => [] },
  ) {
    this.workflows = new WorkflowStore(db, now);
    this.crews = newCrewStore(db, now);
    this.agents = newAgentStore(db, now);
    this.shelf = new Shelf(
      db,
      {
        kind: "role",
        table: roles,
        orderBy: [asc(sql`lower(${roles.name})`)],
        toBin: ({ name, content }) => ({ key: name, name, content: () => content }),
      },
      now,
    );
  }

  /** By name. */
  list(): StoredRole[] {
    const files = this.folder.roles();
    const hidden = new Set(files.map(({ role }) => role.name));
    const own = this.shelf
      .list()
      .filter(({ name }) => !hidden.has(name))
      .map(toStored);
    if (files.length === 0) return own;
    const word = ({ role }: StoredRole) => role.name.toLowerCase();
    return [...own, ...files.map(fromFolder)].sort((a, b) => (word(a) < word(b) ? -1 : 1));
  }

  find(name: string): StoredRole | undefined {
    const file = this.inFolder(name);
    if (file) return fromFolder(file);
    const row = this.shelf.find(is(name));
    return row && toStored(row);
  }

  /** The definitions alone, for checking and running. */
  all(): RoleDefinition[] {
    return this.list().map(({ role }) => role);
  }

  /** False if the name is taken. */
  create(role: RoleDefinition): boolean {
    return !this.inFolder(role.name) && this.shelf.insert(rowOf(role));
  }

  /** Saves over a revision that the caller has seen; the role may carry a new name. */
  save(name: string, since: number, role: RoleDefinition): RoleSaveResult {
    return writeTransaction(this.db, () => {
      const file = this.inFolder(name)?.file;
      if (file !== undefined) return { saved: false, reason: "read_only", file };
      const { name: to } = role;
      const isRenamed = to !== name;
      if (isRenamed && this.find(to)) return { saved: false, reason: "name_taken" };
      const revision = this.shelf.save(is(name), rowOf(role), since);
      if (revision === undefined) {
        const current = this.find(name);
        return current ? { saved: false, reason: "stale", current } : { saved: false, reason: "gone" };
      }
      const renamed_in = {
        workflows: isRenamed ? this.workflows.renameRole(name, to) : 0,
        crews: isRenamed ? this.crews.rewrite((crew) => crewWithRoleRenamed(crew, name, to)) : 0,
        agents: isRenamed ? this.agents.rewrite((agent) => agentWithRoleRenamed(agent, name, to)) : 0,
      };
      return { saved: true, revision, renamed_in };
    });
  }

  /** Adds or replaces a role without checking its revision; a role from a file stays unchanged. */
  put(role: RoleDefinition): void {
    if (!this.inFolder(role.name)) this.shelf.put(is(role.name), rowOf(role));
  }

  /** False if there is none, or if it comes from a file. */
  remove(name: string): boolean {
    return !this.inFolder(name) && this.shelf.remove(is(name));
  }

  /** Adds the built-in roles: new ones, and newer versions of those that nobody has edited. */
  seed(builtin: readonly RoleDefinition[]): void {
    return writeTransaction(this.db, () => {
      const settings = newSettingStore(this.db);
      const seeded = new Set(ownJson<string[]>(settings.find(SEEDED) ?? "[]"));
      for (const role of builtin) {
        if (!seeded.has(role.name)) this.shelf.insert({ ...rowOf(role), builtin: true });
        else
          this.db
            .update(roles)
            .set({ content: canonicalJson(role) })
            // Revision 1: not edited by anyone.
            .where(and(eq(roles.name, role.name), eq(roles.builtin, true), eq(roles.revision, 1)))
            .run();
        seeded.add(role.name);
      }
      settings.set(SEEDED, JSON.stringify([...seeded].sort()));
    });
  }

  private inFolder(name: string) {
    return this.folder.roles().find(({ role }) => role.name === name);
  }
}
