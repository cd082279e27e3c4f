import { z } from "zod";
import { MemoryScope } from "@/server/domain/agent/memory/memory-scope";
import { PROJECT_PLACE } from "@/server/domain/agent/memory/memory-tools";
import { defined } from "@/server/domain/base/defined";
import { Json } from "@/server/domain/base/values";
import type { Memory, MemoryPlace, MemoryStore } from "@/server/store/library/memories/memories";
import { defineTool, Labelled, ToolFailure, type ToolInterface, type ToolScope } from "../define";
import { sourceOf } from "./caller";

type Memories = Pick<MemoryStore, "store" | "retrieve" | "search">;

const Scope = z
  .enum(MemoryScope.options)
  .describe("Scope: this task, this agent, this run, this workflow, this project, or everything");
const Key = z.string().min(1).max(200);
const YEAR_SECONDS = 365 * 24 * 3600;

/**
 * What a scope means for this caller, or null where it has none. The model names the scope; what the scope is bound
 * to never comes from its words.
 */
export function memoryPlace(
  scope: MemoryScope,
  { run, agent }: Pick<ToolScope, "run" | "agent">,
): MemoryPlace | null {
  const bound = (scope_id: string | null | undefined) => (scope_id ? { scope, scope_id } : null);
  switch (scope) {
    case "task":
      return bound(run && agent && `${run.id}/${agent.node_id}/${agent.task_id ?? agent.agent_id}`);
    case "agent":
      return bound(run && agent && `${run.id}/${agent.agent_id}`);
    case "run":
      return bound(run?.id);
    case "workflow":
      return bound(run?.workflow_id);
    case "project":
      return PROJECT_PLACE;
    case "global":
      return { scope, scope_id: "" };
  }
}

/** Scopes that the caller may use. */
const allowed = (scope: MemoryScope, { agent }: ToolScope) =>
  agent?.memory_scopes === undefined || agent.memory_scopes.includes(scope);

function placeFor(scope: MemoryScope, caller: ToolScope): MemoryPlace {
  if (!allowed(scope, caller)) {
    const scopes = caller.agent?.memory_scopes?.join(", ") || "none";
    throw new ToolFailure(
      403,
      `This agent may not use the memory of scope "${scope}". Scopes it may use: ${scopes}.`,
    );
  }
  const place = memoryPlace(scope, caller);
  if (!place) throw new ToolFailure(400, `No ${scope} memory is available here.`);
  return place;
}

const shown = ({ key, value, scope, updated_at, expires_at }: Memory) => ({
  key,
  value,
  scope,
  updated_at: new Date(updated_at).toISOString(),
  ...defined({ expires_at: expires_at === null ? undefined : new Date(expires_at).toISOString() }),
});

/** Scopes that end with the run, so that what is in them was written by it. */
const INSIDE_RUN: ReadonlySet<MemoryScope> = new Set(["task", "agent", "run"]);

/**
 * Agents' memory, within a run and across runs. Reading taints, unless a person wrote the memory, or this run did
 * before it had read untrusted content: another run may have been misled.
 */
export function memoryTools(memories: Memories): ToolInterface[] {
  return [
    defineTool({
      name: "store_memory",
      description: "Stores a value under a key; replaces the key's value in this scope.",
      input: z.object({
        key: Key,
        value: Json.describe("A string, or any other JSON value; at most 64 kB"),
        scope: Scope.default("run"),
        ttl: z
          .number()
          .positive()
          .max(10 * YEAR_SECONDS)
          .optional()
          .describe("Seconds until it expires"),
      }),
      source: "builtin",
      risk: "MEDIUM",
      idempotent: true,
      resources: ["memory:{scope}:{key}"],
      execute({ key, value, scope, ttl }, caller) {
        try {
          const stored = memories.store({
            ...placeFor(scope, caller),
            key,
            value,
            ttl_seconds: ttl,
            // Memories beyond the run are untrusted until a person has reviewed them.
            tainted: !INSIDE_RUN.has(scope) || caller.tainted !== false,
            source: {
              ...sourceOf(caller, "store_memory"),
              // A node of a run is not a person, whoever started the run.
              ...defined({
                by: caller.agent ? ("agent" as const) : caller.run ? undefined : ("person" as const),
                run_id: caller.run?.id,
              }),
            },
          });
          const { value: _known, ...rest } = shown(stored);
          return rest;
        } catch (error) {
          if (error instanceof Error && error.name === "MemoryError" && "code" in error)
            throw new ToolFailure(error.code === "TOO_LARGE" ? 413 : 400, error.message);
          throw error;
        }
      },
    }),
    defineTool({
      name: "retrieve_memory",
      description: "Returns the value stored under a key, in the given scope only.",
      input: z.object({ key: Key, scope: Scope.default("run") }),
      source: "builtin",
      risk: "LOW",
      read_only: true,
      idempotent: true,
      taints: true,
      resources: ["memory:{scope}:{key}"],
      execute({ key, scope }, caller) {
        const memory = memories.retrieve(placeFor(scope, caller), key);
        if (!memory)
          throw new ToolFailure(
            404,
            `Nothing is stored under that key in the scope "${scope}". Try search_memory.`,
          );
        return new Labelled(shown(memory), memory.tainted);
      },
    }),
    defineTool({
      name: "search_memory",
      description: "Finds memories by words in their keys and values, best matches first.",
      input: z.object({
        query: z.string().min(1).max(4_000),
        scope: Scope.optional().describe("If omitted: every scope of this agent"),
        k: z.number().int().min(1).max(50).default(5),
      }),
      source: "builtin",
      risk: "LOW",
      read_only: true,
      idempotent: true,
      taints: true,
      execute({ query, scope, k }, caller) {
        const places = scope
          ? [placeFor(scope, caller)]
          : MemoryScope.options
              .filter((each) => allowed(each, caller))
              .map((each) => memoryPlace(each, caller))
              .filter((place) => place !== null);
        const found = memories.search(query, places, k);
        return new Labelled(
          {
            memories: found.map((memory) => ({
              ...shown(memory),
              score: Math.round(memory.score * 1000) / 1000,
            })),
          },
          found.some(({ tainted }) => tainted),
        );
      },
    }),
  ];
}
