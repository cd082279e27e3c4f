import { z } from "zod";
import { MemoryScope } from "@/server/domain/agent/memory/memory-scope";
import { PROJECT_PLACE } from "@/server/domain/agent/memory/memory-tools";
import { Json } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import {
  BinnedMemory,
  type Memory,
  MemoryError,
  type MemoryPlace,
} from "@/server/store/library/memories/memories";
import { Page } from "../common-schemas";
import { type Caller, operationsOf } from "../operation";
import { fromCursor, toCursor } from "../paging";
import type { Services } from "../services";
import { PlacedMemory, StoredMemory } from "./library-schemas";

const { mutation, query } = operationsOf("Memories");

const ById = z.object({ id: z.number().int() });

const Content = z.object({
  value: Json.meta({ description: "A string or any other JSON value" }),
  importance: z.number().min(0).max(1),
  /** Unix milliseconds; null: it stays. */
  expires_at: z.number().int().nullable(),
});

/** Where one may be put from outside of a run: what belongs to a run is the agents' own. */
const Place = z.discriminatedUnion("scope", [
  z.object({ scope: z.literal("workflow"), workflow_id: z.string() }),
  z.object({ scope: z.literal("project") }),
  z.object({ scope: z.literal("global") }),
]);

/** What agents remember, to look through, to correct and to delete. */
export const memoryOperations = {
  list: query({
    name: "listMemories",
    summary: "List memories, most recently changed first",
    needs: "read",
    input: Page.extend({
      scope: MemoryScope.optional(),
      text: z
        .string()
        .max(400)
        .optional()
        .meta({ description: "Words that must all occur; the last can be incomplete" }),
    }),
    output: z.object({ memories: z.array(PlacedMemory), next_cursor: z.string().nullable() }),
    http: { route: "GET /memories", success: "A page of memories" },
    run(services, { limit, cursor, scope, text }) {
      const [updated_at, id] = cursor === undefined ? [] : fromCursor(cursor);
      const before = cursor === undefined ? undefined : { updated_at: Number(updated_at), id: Number(id) };
      const found = services.memories.list({ scope, text, before, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        memories: page.map((memory) => ({ ...memory, place: placeOf(memory, services) })),
        next_cursor: found.length > limit && last ? toCursor([last.updated_at, String(last.id)]) : null,
      };
    },
  }),

  counts: query({
    name: "countMemories",
    summary: "Count memories by scope",
    needs: "read",
    input: z.void(),
    output: z.record(MemoryScope, z.int()),
    http: { route: "GET /memories/counts", success: "Counts by scope" },
    run: ({ memories }) => memories.counts(),
  }),

  create: mutation({
    name: "createMemory",
    summary: "Create a memory",
    about:
      "Rejected if the key is already in use. What a program writes counts as untrusted content; what people enter in the app is trusted.",
    needs: "author",
    input: Content.extend({
      key: z.string(),
      place: Place,
      importance: Content.shape.importance.default(0.5),
      expires_at: Content.shape.expires_at.default(null),
    }),
    output: StoredMemory,
    problems: ["not_found", "key_taken", "expired"],
    http: { route: "POST /memories", status: 201, success: "Stored" },
    run({ memories, workflows }, { place, key, value, importance, expires_at }, { principal }) {
      if (place.scope === "workflow" && !workflows.find(place.workflow_id))
        throw new Rejection("not_found", "This workflow was deleted. Choose another.");
      const at = placed(place);
      if (memories.retrieve(at, key))
        throw new Rejection(
          "key_taken",
          `A memory with the key "${key}" already exists there. Edit it instead.`,
        );
      const by = authorOf(principal);
      return guarded(() =>
        memories.store({
          ...at,
          key,
          value,
          importance,
          ttl_seconds: secondsUntil(expires_at),
          tainted: by !== "person",
          source: { by },
        }),
      );
    },
  }),

  update: mutation({
    name: "changeMemory",
    summary: "Edit a memory",
    about: "Omitted fields keep their values. A value sent by a program counts as untrusted content.",
    needs: "author",
    input: ById.extend(Content.partial().shape),
    output: PlacedMemory,
    http: { route: "POST /memories/{id}", success: "The current memory" },
    run(services, { id, value, importance, expires_at }, { principal }) {
      const change = {
        ...(value === undefined ? {} : { value }),
        ...(importance === undefined ? {} : { importance }),
        ...(expires_at === undefined ? {} : { expires_at }),
      };
      const memory = guarded(() => services.memories.update(id, change, authorOf(principal))) ?? gone();
      return { ...memory, place: placeOf(memory, services) };
    },
  }),

  remove: mutation({
    name: "deleteMemory",
    summary: "Delete a memory",
    needs: "author",
    input: ById,
    http: { route: "DELETE /memories/{id}", success: "Deleted" },
    run({ memories }, { id }) {
      if (!memories.remove(id)) gone();
    },
  }),

  /** Takes a deletion back; refused where the key holds something else by now. */
  restore: mutation({
    name: "restoreMemory",
    summary: "Restore a deleted memory",
    needs: "author",
    input: BinnedMemory,
    problems: ["key_taken", "expired"],
    http: {
      personOnly: "restoring a memory restores its author and trust; programs can create it again",
    },
    run({ memories }, memory) {
      if (memories.retrieve(memory, memory.key))
        throw new Rejection("key_taken", "Agents have since stored another memory under this key.");
      secondsUntil(memory.expires_at);
      guarded(() => memories.restore(memory));
    },
  }),
};

const authorOf = ({ kind }: Caller["principal"]) => (kind === "session" ? "person" : "program");

function placed(place: z.infer<typeof Place>): MemoryPlace {
  if (place.scope === "workflow") return { scope: "workflow", scope_id: place.workflow_id };
  return place.scope === "project" ? PROJECT_PLACE : { scope: "global", scope_id: "" };
}

function secondsUntil(expires_at: number | null): number | undefined {
  if (expires_at === null) return undefined;
  const seconds = (expires_at - Date.now()) / 1000;
  if (seconds <= 0) throw new Rejection("expired", "This memory has expired.");
  return seconds;
}

/** What a memory is bound to, as text and with a link. */
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
    if (error instanceof MemoryError) throw new Rejection("bad_request", error.message);
    throw error;
  }
}

function gone(): never {
  throw new Rejection("not_found", "This memory has expired or was deleted.");
}
