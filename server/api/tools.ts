import { z } from "zod";
import { Json } from "@/server/domain/base/values";
import { CREW_TOOL_NOTES } from "@/server/domain/crew/crew-tools";
import { isGranted } from "@/server/domain/tool/tool";
import { procedure, router } from "./trpc";

/** What agents can call: what there is, who may use it, and trying it out. */
export const toolsRouter = router({
  /** `used_by`: the roles that name it. `crew`: what a run carries out itself, granted by the way a crew works. */
  list: procedure.query(({ ctx }) => {
    const roles = ctx.troupe.roles.all();
    const usersOf = (tool: string) =>
      roles.flatMap(({ name, tools }) => (isGranted(tools, tool) ? [name] : []));
    return {
      tools: ctx.troupe.registry.list().map((spec) => ({ ...spec, used_by: usersOf(spec.name) })),
      crew: CREW_TOOL_NOTES.map((note) => ({ ...note, used_by: usersOf(note.name) })),
    };
  }),

  /** Only what roles may name: for pickers, and for telling what is missing. */
  names: procedure.query(({ ctx }) => ({
    tools: ctx.troupe.registry
      .list()
      .map(({ name, description, source, risk, read_only, sink, taints, unavailable }) => ({
        name,
        description: description.slice(0, 300),
        source,
        risk,
        read_only,
        sink,
        taints,
        is_unavailable: unavailable !== undefined,
      })),
    mcp_servers: ctx.troupe.toolSources.mcp.list().map(({ name }) => name),
  })),

  /** Really calls a tool, outside of any run. Gives an output in every case, with how long it took. */
  tryOut: procedure
    .input(z.object({ name: z.string().max(200), args: z.record(z.string(), Json) }))
    .mutation(async ({ ctx, input: { name, args }, signal }) => {
      const began = Date.now();
      const output = await ctx.troupe.registry.invoke(name, args, {
        signal: signal ?? new AbortController().signal,
        idempotencyKey: `try:${crypto.randomUUID()}`,
        run: null,
        agent: null,
      });
      // What was passed stays out of the record: it may hold anything.
      ctx.note("tool_tried_out", { tool: name, status_code: output.status_code });
      return { output, duration_ms: Date.now() - began };
    }),
});
