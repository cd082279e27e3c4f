import { asc, eq } from "drizzle-orm";
import type { Db } from "@/db/open";
import { runs, secrets } from "@/db/schema";
import { textsOf } from "@/server/domain/base/guards";
import { isHostOf, type KnownSecret } from "@/server/domain/tool/secret";
import type { Sealer } from "@/server/secrets/sealer";
import { hintOf } from "./stored-secret";

/** A named secret without its value, which is never returned. */
export interface StoredSecret {
  name: string;
  /** The last characters of a value that is long enough for them to reveal nothing. */
  hint: string | null;
  /** The hosts that it may be sent to. */
  hosts: string[];
  /** IDs of workflows that may use it; null: all. */
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
  /** Throws if the current key can't decrypt it. */
  const valueOf = (name: string): string | null => {
    const found = row(name);
    return found ? sealer.open(found.value, bindingOf(name)) : null;
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
    /** False if no secret has that name. Without a value, the stored one is kept. */
    change(name: string, { value, hosts, workflows }: SecretInput & { value?: string | undefined }): boolean {
      const entered =
        value === undefined ? {} : { value: sealer.seal(value, bindingOf(name)), hint: hintOf(value) };
      const set = { ...entered, ...written({ hosts, workflows }), updatedAt: now() };
      return db.update(secrets).set(set).where(eq(secrets.name, name)).run().changes > 0;
    },
    remove: (name: string): boolean => db.delete(secrets).where(eq(secrets.name, name)).run().changes > 0,
    /** Looks up secrets for the checks of a workflow; null: a workflow that isn't saved. */
    knownTo:
      (workflow: string | null) =>
      (name: string): KnownSecret | undefined => {
        const found = find(name);
        return found && { hosts: found.hosts, isForThis: isFor(found, workflow) };
      },
    /** The value for a run's request to this host, or why it may not be sent there. */
    open(
      name: string,
      { host, run }: { host: string; run: { id: string; workflow_id: string | null } | null },
    ): { value: string } | { error: string } {
      const found = find(name);
      if (!found) return { error: `There is no secret ${name}. Add it in Settings.` };
      if (!isFor(found, run && (run.workflow_id ?? workflowOf(db, run.id))))
        return { error: `This workflow may not use the secret ${name}. Allow it in Settings.` };
      if (!isHostOf(found.hosts, host))
        return { error: `The secret ${name} may only be sent to ${found.hosts.join(", ")}, not to ${host}.` };
      try {
        return { value: valueOf(name) ?? "" };
      } catch {
        return { error: `The secret ${name} can't be decrypted. Enter its value again in Settings.` };
      }
    },
    /** Decrypts all, so that they are redacted from now on. */
    load(): void {
      for (const { name } of list())
        try {
          valueOf(name);
        } catch {
          // Reported at startup, with everything that the key can't decrypt.
        }
    },
  };
}

/** The workflow of a run, or of its parent if it runs a part of that workflow. */
function workflowOf(db: Db, id: string): string | null {
  const found = db
    .select({ workflow_id: runs.workflowId, parent: runs.parentRun })
    .from(runs)
    .where(eq(runs.id, id))
    .get();
  return found?.workflow_id ?? (found?.parent ? workflowOf(db, found.parent) : null);
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
