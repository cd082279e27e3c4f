import { z } from "zod";
import { LIMITS } from "@/server/access/limits";
import { PROJECT_PLACE } from "@/server/domain/agent/memory";
import type { Services } from "@/server/services";
import {
  type Memory,
  MemoryError,
  type MemoryPlace,
  MemoryScope,
  MemorySource,
} from "@/server/store/memories";
import { procedure, refusal, router } from "./trpc";

const ById = z.object({ id: z.number().int() });

const Content = z.object({
  value: z.string().max(LIMITS.memory.valueBytes),
  importance: z.number().min(0).max(1),
  /** Unix milliseconds; null: it stays. */
  expires_at: z.number().int().nullable(),
});

/** Where a person may put one: what belongs to a run is the agents' own. */
const Place = z.discriminatedUnion("scope", [
  z.object({ scope: z.literal("workflow"), workflow_id: z.string() }),
  z.object({ scope: z.literal("project") }),
  z.object({ scope: z.literal("global") }),
]);

/** What agents remember, for people to look through, to correct and to delete. */
export const memoriesRouter = router({
  /** The last changed first; `text`: words that must all occur, the last one may be half written. */
  list: procedure
    .input(
      z.object({
        scope: MemoryScope.optional(),
        text: z.string().max(400).optional(),
        /** The last one of the page before. */
        cursor: z.object({ updated_at: z.number(), id: z.number().int() }).nullish(),
        limit: z.number().int().min(1).max(200).default(50),
      }),
    )
    .query(({ ctx, input }) => {
      const { limit, cursor, scope, text } = input;
      const found = ctx.troupe.memories.list({ scope, text, before: cursor ?? undefined, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        memories: page.map((memory) => ({ ...memory, place: placeOf(memory, ctx.troupe) })),
        next: found.length > limit && last ? { updated_at: last.updated_at, id: last.id } : null,
      };
    }),

  /** How many there are in each scope. */
  counts: procedure.query(({ ctx }) => ctx.troupe.memories.counts()),

  /** What a person wants agents to know. Refused where the key holds something already. */
  create: procedure
    .input(Content.extend({ key: z.string(), place: Place }))
    .mutation(({ ctx, input: { place, key, value, importance, expires_at } }) => {
      const { memories, workflows } = ctx.troupe;
      if (place.scope === "workflow" && !workflows.find(place.workflow_id))
        throw refusal("NOT_FOUND", "This workflow was deleted. Choose another.");
      const at = placed(place);
      if (memories.retrieve(at, key))
        throw refusal("CONFLICT", `Something is remembered under "${key}" there already. Change that one.`);
      return guarded(() =>
        memories.store({
          ...at,
          key,
          value,
          importance,
          ttl_seconds: secondsUntil(expires_at),
          tainted: false,
          source: { by: "person" },
        }),
      );
    }),

  update: procedure
    .input(ById.extend(Content.partial().shape))
    .mutation(({ ctx, input: { id, value, importance, expires_at } }) => {
      const change = {
        ...(value === undefined ? {} : { value }),
        ...(importance === undefined ? {} : { importance }),
        ...(expires_at === undefined ? {} : { expires_at }),
      };
      const memory = guarded(() => ctx.troupe.memories.update(id, change)) ?? gone();
      return { ...memory, place: placeOf(memory, ctx.troupe) };
    }),

  remove: procedure.input(ById).mutation(({ ctx, input }) => {
    if (!ctx.troupe.memories.remove(input.id)) gone();
  }),

  /** Takes a deletion back; refused where the key holds something else by now. */
  restore: procedure
    .input(
      z.object({
        scope: MemoryScope,
        scope_id: z.string(),
        key: z.string(),
        value: z.string(),
        importance: z.number(),
        tainted: z.boolean(),
        source: MemorySource,
        expires_at: z.number().nullable(),
      }),
    )
    .mutation(({ ctx, input: { expires_at, ...memory } }) => {
      if (ctx.troupe.memories.retrieve(memory, memory.key))
        throw refusal("CONFLICT", "Agents have stored something else under this key since.");
      const ttl_seconds = secondsUntil(expires_at);
      guarded(() => ctx.troupe.memories.store({ ...memory, ttl_seconds }));
    }),
});

function placed(place: z.infer<typeof Place>): MemoryPlace {
  if (place.scope === "workflow") return { scope: "workflow", scope_id: place.workflow_id };
  return place.scope === "project" ? PROJECT_PLACE : { scope: "global", scope_id: "" };
}

function secondsUntil(expires_at: number | null): number | undefined {
  if (expires_at === null) return undefined;
  const seconds = (expires_at - Date.now()) / 1000;
  if (seconds <= 0) throw refusal("CONFLICT", "This memory has expired since.");
  return seconds;
}

/** What a memory is bound to, in words and with a way there. */
function placeOf({ scope, scope_id, source }: Memory, { runs, workflows }: Services) {
  const run_id =
    scope === "task" || scope === "agent" || scope === "run" ? scope_id.split("/")[0] : source.run_id;
  const run = run_id ? runs.find(run_id) : undefined;
  const workflow = scope === "workflow" ? workflows.find(scope_id) : undefined;
  return {
    workflow: workflow ? { id: workflow.id, name: workflow.name } : null,
    run: run ? { id: run.id, name: run.workflow_name, workflow_id: run.workflow_id } : null,
  };
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof MemoryError) throw refusal("BAD_REQUEST", error.message);
    throw error;
  }
}

function gone(): never {
  throw refusal("NOT_FOUND", "This memory has expired or was deleted.");
}
