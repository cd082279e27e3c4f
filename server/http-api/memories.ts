import { z } from "zod";
import { MemoryScope } from "@/server/domain/agent/memory-scope";
import { Page } from "@/server/operations/common-schemas";
import { PlacedMemory } from "@/server/operations/library-schemas";
import { memoryOperations } from "@/server/operations/memories";
import { type Endpoint, endpoint } from "./endpoint";
import { endpointsOf, performFor } from "./expose";
import { fromCursor, toCursor } from "./paging";

/** What agents remember. */
export const memoryEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/memories",
    name: "listMemories",
    summary: "Lists what agents remember, the last changed first",
    tag: "Memories",
    query: Page.extend({
      scope: MemoryScope.optional(),
      text: z
        .string()
        .max(400)
        .optional()
        .meta({ description: "Words that must all occur; the last one may be half written" }),
    }),
    success: {
      status: 200,
      about: "A page of memories",
      schema: z.object({ memories: z.array(PlacedMemory), next_cursor: z.string().nullable() }),
    },
    answer(call) {
      const { cursor, ...query } = call.query;
      const { memories, next } = performFor(
        memoryOperations.list,
        { ...query, cursor: cursor === undefined ? null : placeIn(cursor) },
        call,
      );
      return { body: { memories, next_cursor: next && toCursor([next.updated_at, String(next.id)]) } };
    },
  }),
  ...endpointsOf(memoryOperations),
];

function placeIn(cursor: string): { updated_at: number; id: number } {
  const [updated_at, id] = fromCursor(cursor);
  return { updated_at: Number(updated_at), id: Number(id) };
}
