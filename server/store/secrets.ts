import { asc, eq } from "drizzle-orm";
import type { Db } from "@/db/open";
import { runs, secrets } from "@/db/schema";
import { textsOf } from "@/server/domain/base/guards";
import { isHostOf, type KnownSecret } from "@/server/domain/tool/secret";
import type { Sealer } from "@/server/secrets/sealer";
import { hintOf } from "./stored-secret";

/** A named secret, as people see it: its value never comes out. */
export interface StoredSecret {
  name: string;
  /** The end of the value, where it is long enough for that to reveal nothing. */
  hint: string | null;
  /** The hosts that it may be sent to. */
  hosts: string[];
  /** The workflows that may use it; null: all. */
  workflows: string[] | null;
  created_at: number;
  updated_at: number;
}

export type SecretStore = ReturnType<typeof newSecretStore>;

const bindingOf = (name: string) => `secret:${name}:value`;

export function newSecretStore(db: Db, sealer: Sealer, now: () => number = Date.now) {
  const row = (name: string) => db.select().from(secrets).where(eq(secrets.name, name)).get();
  const find = (name: string): StoredSecret | undefined => {
    const found = row(name);
    return found && toSecret(found);
  };
  const list = () => db.select().from(secrets).orderBy(asc(secrets.name)).all().map(toSecret);
  /** Throws where the present key doesn't open it. */
  const valueOf = (name: string): string | null => {
    const found = row(name);
    return found ? sealer.open(found.value, bindingOf(name)) : null;
  };
  /** The workflow of a run; that of its parent where it runs a part of one. */
  const workflowOf = (id: string): string | null => {
    const found = db
      .select({ workflow_id: runs.workflowId, parent: runs.parentRun })
      .from(runs)
      .where(eq(runs.id, id))
      .get();
    return found?.workflow_id ?? (found?.parent ? workflowOf(found.parent) : null);
  };
  const isFor = ({ workflows }: StoredSecret, workflow: string | null) =>
    workflows === null || (workflow !== null && workflows.includes(workflow));

  return {
    list,
    find,
    valueOf,
    /** False if the name is taken. */
    create({ name, value, hosts, workflows }: SecretInput & { name: string; value: string }): boolean {
      const at = now();
      const stored = { name, value: sealer.seal(value, bindingOf(name)), hint: hintOf(value) };
      return (
        db
          .insert(secrets)
          .values({ ...stored, ...written({ hosts, workflows }), createdAt: at, updatedAt: at })
          .onConflictDoNothing()
          .run().changes > 0
      );
    },
    /** False if there is none of that name. Without a value, the stored one stays. */
    change(name: string, { value, hosts, workflows }: SecretInput & { value?: string | undefined }): boolean {
      const entered =
        value === undefined ? {} : { value: sealer.seal(value, bindingOf(name)), hint: hintOf(value) };
      const set = { ...entered, ...written({ hosts, workflows }), updatedAt: now() };
      return db.update(secrets).set(set).where(eq(secrets.name, name)).run().changes > 0;
    },
    remove: (name: string): boolean => db.delete(secrets).where(eq(secrets.name, name)).run().changes > 0,
    /** Secrets as the checks of a workflow see them; null: a workflow that isn't saved. */
    knownTo:
      (workflow: string | null) =>
      (name: string): KnownSecret | undefined => {
        const found = find(name);
        return found && { hosts: found.hosts, isForThis: isFor(found, workflow) };
      },
    /** The value for a request of a run to this host, or why it isn't sent there. */
    open(
      name: string,
      { host, run }: { host: string; run: { id: string; workflow_id: string | null } | null },
    ): { value: string } | { error: string } {
      const found = find(name);
      if (!found) return { error: `There is no secret ${name}. Add it in Settings.` };
      if (!isFor(found, run && (run.workflow_id ?? workflowOf(run.id))))
        return { error: `The secret ${name} isn't for this workflow. Allow it in Settings.` };
      if (!isHostOf(found.hosts, host))
        return { error: `The secret ${name} is for ${found.hosts.join(", ")}, not for ${host}.` };
      try {
        return { value: valueOf(name) ?? "" };
      } catch {
        return { error: `The secret ${name} can't be decrypted. Enter its value again in Settings.` };
      }
    },
    /** Opens all, so that they are redacted from now on. */
    load(): void {
      for (const { name } of list())
        try {
          valueOf(name);
        } catch {
          // Reported at the start, with all that the key doesn't open.
        }
    },
  };
}

interface SecretInput {
  hosts: readonly string[];
  workflows: readonly string[] | null;
}

const written = ({ hosts, workflows }: SecretInput) => ({
  hosts: JSON.stringify(hosts),
  workflows: workflows && JSON.stringify(workflows),
});

const toSecret = (row: typeof secrets.$inferSelect): StoredSecret => ({
  name: row.name,
  hint: row.hint,
  hosts: textsOf(JSON.parse(row.hosts)),
  workflows: row.workflows === null ? null : textsOf(JSON.parse(row.workflows)),
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});
