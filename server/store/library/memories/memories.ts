import { and, count, desc, eq, gt, inArray, isNull, lt, lte, or, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import { type Db, writeTransaction } from "@/db/open";
import { bin, memories, runs } from "@/db/schema";
import { MemoryScope } from "@/server/domain/agent/memory/memory-scope";
import { defined } from "@/server/domain/base/defined";
import { canonicalJson, parseJson } from "@/server/domain/base/json";
import { namedError } from "@/server/domain/base/named-error";
import { Json } from "@/server/domain/base/values";
import { LIMITS } from "@/server/limits";
import { FileSource } from "@/server/store/runs/workspace";
import { memoriesOfGone, memoryKey, Shelf } from "../shelf";
import { toFilter, toMatch } from "./memory-query";

/** What a scope is bound to: a run, a workflow ... Those inside a run begin with the run's id and a slash. */
export interface MemoryPlace {
  scope: MemoryScope;
  scope_id: string;
}

/** Where a memory came from; `by` says who wrote it: an agent, a person, or a program with a token. */
export const MemorySource = FileSource.extend({
  by: z.enum(["agent", "person", "program"]).optional(),
  run_id: z.string().optional(),
});
export type MemorySource = z.infer<typeof MemorySource>;

export interface Memory extends MemoryPlace {
  id: number;
  key: string;
  value: Json;
  /** 0 to 1. */
  importance: number;
  /** Came from untrusted content. */
  tainted: boolean;
  source: MemorySource;
  created_at: number;
  updated_at: number;
  /** Null: stays until it is removed. */
  expires_at: number | null;
}
/** A memory in the bin. */
export const BinnedMemory = z.object({
  scope: MemoryScope,
  scope_id: z.string(),
  key: z.string(),
  value: Json,
  importance: z.number(),
  tainted: z.boolean(),
  source: MemorySource,
  expires_at: z.number().nullable(),
});
export type BinnedMemory = z.infer<typeof BinnedMemory>;
export interface FoundMemory extends Memory {
  /** 0 to 1: 0.5 relevance + 0.3 recency + 0.2 importance. */
  score: number;
  /** 1 for the best match of the words among those found. */
  relevance: number;
  /** Halves every 30 days. */
  recency: number;
}

export interface MemoryInput extends MemoryPlace {
  key: string;
  value: Json;
  ttl_seconds?: number | undefined;
  importance?: number | undefined;
  tainted: boolean;
  source: MemorySource;
}

/** A memory that can't be stored, as a message for the caller. */
export class MemoryError extends namedError("MemoryError") {
  constructor(
    readonly code: "BAD_KEY" | "TOO_LARGE",
    message: string,
  ) {
    super(message);
  }
}

const HALF_LIFE_MS = 30 * 24 * 3_600_000;
const WEIGHTS = { relevance: 0.5, recency: 0.3, importance: 0.2 } as const;
/** BM25 chooses this many; the whole score orders them. */
const CANDIDATES = 200;
const INSIDE_RUN = ["task", "agent", "run"] as const satisfies MemoryScope[];

/** Everything bound to a run: what it, its agents and its tasks remember. */
const ofRun = (runId: string): SQL | undefined =>
  and(
    inArray(memories.scope, [...INSIDE_RUN]),
    or(
      eq(memories.scopeId, runId),
      sql`substr(${memories.scopeId}, 1, ${runId.length + 1}) = ${`${runId}/`}`,
    ),
  );

/** Deletes everything that is bound to a run, including what is in the bin. */
export function forgetMemoriesOf(db: Pick<Db, "delete">, runId: string): void {
  db.delete(memories).where(ofRun(runId)).run();
  db.delete(bin).where(memoriesOfGone(INSIDE_RUN, runId)).run();
}

/** A cancelled run had no time to delete its memories; a run that stopped at a limit may resume. */
const isOfEndedTask = sql`${memories.scope} = 'task' and exists (
  select 1 from ${runs}
  where ${runs.id} = substr(${memories.scopeId}, 1, instr(${memories.scopeId}, '/') - 1)
    and ${runs.status} = 'finished' and ${runs.finalStatus} <> 'INCOMPLETE'
)`;

const isAt = ({ scope, scope_id }: MemoryPlace) =>
  and(eq(memories.scope, scope), eq(memories.scopeId, scope_id));

/** What agents remember. What has expired is not there, whether or not it was swept away already. */
export class MemoryStore {
  private readonly shelf: Shelf<typeof memories>;

  constructor(
    private readonly db: Db,
    private readonly now: () => number = Date.now,
  ) {
    this.shelf = new Shelf(
      db,
      {
        kind: "memory",
        table: memories,
        orderBy: [desc(memories.updatedAt), desc(memories.id)],
        toBin: (row) => ({
          key: memoryKey(row.scope, row.scopeId, row.key),
          name: row.key,
          content: () => canonicalJson(BinnedMemory.parse(toMemory(row))),
        }),
      },
      now,
    );
  }

  find(id: number): Memory | undefined {
    const row = this.db
      .select()
      .from(memories)
      .where(and(eq(memories.id, id), this.isAlive()))
      .get();
    return row && toMemory(row);
  }

  /** Adds, or replaces what the key held. Throws MemoryError. */
  store(input: MemoryInput): Memory {
    return writeTransaction(this.db, () => this.put(input));
  }

  retrieve(place: MemoryPlace, key: string): Memory | undefined {
    const row = this.db
      .select()
      .from(memories)
      .where(and(isAt(place), eq(memories.key, normalKey(key)), this.isAlive()))
      .get();
    return row && toMemory(row);
  }

  /** The best `k` of these places for free text; whatever the text, it is words to look for and nothing else. */
  search(query: string, places: readonly MemoryPlace[], k: number = 5): FoundMemory[] {
    const match = toMatch(query);
    if (match === null || places.length === 0) return [];
    const rank = sql<number>`bm25(memories_fts, 2.0, 1.0)`;
    const rows = this.db
      .select({ memory: memories, rank })
      .from(sql`memories_fts`)
      .innerJoin(memories, sql`${memories.id} = memories_fts.rowid`)
      .where(and(sql`memories_fts match ${match}`, or(...places.map(isAt)), this.isAlive()))
      .orderBy(sql`bm25(memories_fts, 2.0, 1.0)`)
      .limit(CANDIDATES)
      .all();
    // The lower the better. Its size depends on how much is stored, so only the proportion says something.
    const best = Math.max(...rows.map((row) => -row.rank), Number.MIN_VALUE);
    const at = this.now();
    return rows
      .map(({ memory, rank }) => scored(toMemory(memory), clamped(-rank / best), at))
      .sort((a, b) => b.score - a.score || b.updated_at - a.updated_at || a.id - b.id)
      .slice(0, Math.max(0, k));
  }

  /** The last changed first. `before`: the id and time of the last one of the page before. */
  list({
    scope,
    scope_id,
    text = "",
    limit = 50,
    before,
  }: {
    scope?: MemoryScope | undefined;
    scope_id?: string | undefined;
    /** Words that must all occur; the last one may be half written. */
    text?: string | undefined;
    limit?: number | undefined;
    before?: { updated_at: number; id: number } | undefined;
  } = {}): Memory[] {
    const match = toFilter(text);
    if (text.trim() !== "" && match === null) return [];
    return this.db
      .select()
      .from(memories)
      .where(
        and(
          scope === undefined ? undefined : eq(memories.scope, scope),
          scope_id === undefined ? undefined : eq(memories.scopeId, scope_id),
          match === null
            ? undefined
            : sql`${memories.id} in (select rowid from memories_fts where memories_fts match ${match})`,
          before &&
            or(
              lt(memories.updatedAt, before.updated_at),
              and(eq(memories.updatedAt, before.updated_at), lt(memories.id, before.id)),
            ),
          this.isAlive(),
        ),
      )
      .orderBy(desc(memories.updatedAt), desc(memories.id))
      .limit(limit)
      .all()
      .map(toMemory);
  }

  /** How many there are in each scope. */
  counts(): Record<MemoryScope, number> {
    const rows = this.db
      .select({ scope: memories.scope, count: count() })
      .from(memories)
      .where(this.isAlive())
      .groupBy(memories.scope)
      .all();
    const found = new Map(rows.map((row) => [row.scope, row.count]));
    const counts = MemoryScope.options.map((scope) => [scope, found.get(scope) ?? 0]);
    return Object.fromEntries(counts) as Record<MemoryScope, number>;
  }

  /** A correction. What a person entered becomes trusted; what a program sent doesn't. Throws MemoryError. */
  update(
    id: number,
    change: { value?: Json; importance?: number; expires_at?: number | null },
    by: "person" | "program" = "person",
  ): Memory | undefined {
    const before = this.find(id);
    if (!before) return undefined;
    const { value, importance, expires_at } = change;
    this.db
      .update(memories)
      .set({
        updatedAt: this.now(),
        ...(value === undefined
          ? {}
          : {
              ...checkedValue(value),
              tainted: by !== "person",
              source: JSON.stringify({ ...before.source, by }),
            }),
        ...defined({
          importance: importance === undefined ? undefined : clamped(importance),
          expiresAt: expires_at,
        }),
      })
      .where(eq(memories.id, id))
      .run();
    return this.find(id);
  }

  /** Puts it into the bin. */
  remove(id: number): boolean {
    const isIt = eq(memories.id, id);
    // What has expired does not go to the bin.
    return (
      this.shelf.remove(sql`${isIt} and ${this.isAlive()}`) ||
      this.db.delete(memories).where(isIt).run().changes > 0
    );
  }

  /** Restores a deleted memory unchanged, including from the bin. Throws MemoryError. */
  restore({ expires_at, ...memory }: BinnedMemory): Memory {
    return writeTransaction(this.db, () => {
      const ttl_seconds = expires_at === null ? undefined : (expires_at - this.now()) / 1000;
      const content = canonicalJson(BinnedMemory.parse({ expires_at, ...memory }));
      this.shelf.forget(memoryKey(memory.scope, memory.scope_id, memory.key), content);
      return this.put({ ...memory, ttl_seconds });
    });
  }

  /** Forgets everything bound to one place, such as a task that has ended; gives how many. */
  forget(place: MemoryPlace): number {
    return this.db.delete(memories).where(isAt(place)).run().changes;
  }

  /** Deletes what has expired, and what tasks of runs that are over have left behind; gives how many. */
  sweep(): number {
    return this.db
      .delete(memories)
      .where(or(lte(memories.expiresAt, this.now()), isOfEndedTask))
      .run().changes;
  }

  private isAlive() {
    return or(isNull(memories.expiresAt), gt(memories.expiresAt, this.now()));
  }

  /** Adds, or replaces what the key held. Throws MemoryError. */
  private put(input: MemoryInput): Memory {
    const key = checkedKey(input.key);
    const kept = checkedValue(input.value);
    const at = this.now();
    // An expired memory must not block the new one or pass its age on to it.
    this.db
      .delete(memories)
      .where(and(isAt(input), lte(memories.expiresAt, at)))
      .run();
    const isKnown = this.db
      .select({ id: memories.id })
      .from(memories)
      .where(and(isAt(input), eq(memories.key, key)))
      .get();
    const others = this.db.select({ count: count() }).from(memories).where(isAt(input)).get()?.count ?? 0;
    if (!isKnown && others >= LIMITS.memory.perScope)
      throw new MemoryError(
        "TOO_LARGE",
        `The scope "${input.scope}" already has ${LIMITS.memory.perScope} memories. Replace one by using its key.`,
      );
    const values = {
      ...kept,
      importance: clamped(input.importance ?? 0.5),
      tainted: input.tainted,
      source: JSON.stringify(input.source),
      updatedAt: at,
      expiresAt: input.ttl_seconds === undefined ? null : at + Math.round(input.ttl_seconds * 1000),
    };
    const row = this.db
      .insert(memories)
      .values({ scope: input.scope, scopeId: input.scope_id, key, createdAt: at, ...values })
      .onConflictDoUpdate({ target: [memories.scope, memories.scopeId, memories.key], set: values })
      .returning()
      .get();
    return toMemory(row);
  }
}

function scored(memory: Memory, relevance: number, at: number): FoundMemory {
  const recency = 0.5 ** (Math.max(0, at - memory.updated_at) / HALF_LIFE_MS);
  const score =
    WEIGHTS.relevance * relevance + WEIGHTS.recency * recency + WEIGHTS.importance * memory.importance;
  return { ...memory, relevance, recency, score };
}

const clamped = (share: number) => Math.min(1, Math.max(0, share));
const normalKey = (key: string) => key.normalize("NFC").trim();

function checkedKey(text: string): string {
  const key = normalKey(text);
  if (key === "" || key.length > LIMITS.memory.keyLength || /\p{C}/u.test(key))
    throw new MemoryError(
      "BAD_KEY",
      `A memory's key must have 1 to ${LIMITS.memory.keyLength} characters, on one line.`,
    );
  return key;
}

/** A value as its columns hold it. */
function checkedValue(given: Json): { value: string; json: string | null } {
  const json = typeof given === "string" ? null : JSON.stringify(given).toWellFormed();
  const value =
    typeof given === "string" ? given.toWellFormed() : searchTermsIn(given).join("\n").toWellFormed();
  const { valueBytes } = LIMITS.memory;
  if (Buffer.byteLength(json ?? value) > valueBytes)
    throw new MemoryError(
      "TOO_LARGE",
      `A memory can have at most ${valueBytes / 1024} kB. Save it with create_artifact, and remember the artifact's id.`,
    );
  return { value, json };
}

/** Everything in a value that can be looked for, with the names of its fields. */
function searchTermsIn(value: Json): string[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value.flatMap(searchTermsIn);
  if (typeof value === "object")
    return Object.entries(value).flatMap(([key, each]) => [key, ...searchTermsIn(each)]);
  return [String(value)];
}

function toMemory(row: typeof memories.$inferSelect): Memory {
  const source = MemorySource.safeParse(JSON.parse(row.source));
  return {
    id: row.id,
    scope: MemoryScope.parse(row.scope),
    scope_id: row.scopeId,
    key: row.key,
    value: row.json === null ? row.value : parseJson(row.json),
    importance: row.importance,
    tainted: row.tainted,
    source: source.success ? source.data : {},
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    expires_at: row.expiresAt,
  };
}
