import { z } from "zod";
import { Json } from "@/server/domain/base/values";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import { toolSourcesOf } from "./tool-sources";
import { procedure, refusal, router } from "./trpc";

const ByName = z.object({ name: z.string() });

/** Tools written in the app: their versions, their bin, and trying them out. */
export const customToolsRouter = router({
  /** `enabled`: whether their code may run here. */
  list: procedure.query(({ ctx }) => {
    const { customTools, isCodeEnabled } = toolSourcesOf(ctx.troupe);
    return { enabled: isCodeEnabled, tools: customTools.list(), bin: customTools.bin() };
  }),

  get: procedure
    .input(ByName)
    .query(
      ({ ctx, input }) => toolSourcesOf(ctx.troupe).customTools.find(input.name) ?? notFound(input.name),
    ),

  versions: procedure
    .input(ByName)
    .query(({ ctx, input }) => toolSourcesOf(ctx.troupe).customTools.versions(input.name)),

  /** `base_version`: the version that was changed, null for a new tool. */
  save: procedure
    .input(z.object({ definition: CustomToolDefinition, base_version: z.number().int().nullable() }))
    .mutation(({ ctx, input }) => {
      const sources = toolSourcesOf(ctx.troupe);
      const { name } = input.definition;
      if (sources.isTaken(name)) throw nameTaken(name);
      const result = sources.customTools.save(input.definition, input.base_version);
      if (!result.saved && result.reason === "name_taken") throw nameTaken(name);
      if (!result.saved)
        throw refusal("CONFLICT", "This tool was changed in another place.", {
          reason: "stale",
          current: sources.customTools.find(name) ?? null,
        });
      sources.customToolsChanged();
      ctx.note("custom_tool_saved", { tool: name, version: result.version });
      return { name, version: result.version };
    }),

  remove: procedure.input(ByName).mutation(({ ctx, input }) => {
    const sources = toolSourcesOf(ctx.troupe);
    if (!sources.customTools.remove(input.name)) notFound(input.name);
    sources.customToolsChanged();
    ctx.note("custom_tool_removed", { tool: input.name });
    return { name: input.name };
  }),

  /** Out of the bin; with a version: makes that one the newest again. */
  restore: procedure
    .input(z.object({ name: z.string(), version: z.number().int().optional() }))
    .mutation(({ ctx, input: { name, version } }) => {
      const sources = toolSourcesOf(ctx.troupe);
      const done =
        version === undefined
          ? sources.customTools.restore(name)
          : sources.customTools.restoreVersion(name, version) !== undefined;
      if (!done) notFound(name);
      sources.customToolsChanged();
      const newest = sources.customTools.find(name)?.version ?? null;
      ctx.note("custom_tool_restored", {
        tool: name,
        version: newest,
        ...(version && { from_version: version }),
      });
      return { name, version: newest };
    }),

  /** Calls a tool as it is being written; the real result, or the real failure. */
  try: procedure
    .input(z.object({ definition: CustomToolDefinition, args: Json }))
    .mutation(async ({ ctx, input, signal }) => {
      const never = new AbortController().signal;
      const output = await toolSourcesOf(ctx.troupe).tryOut(input.definition, input.args, signal ?? never);
      ctx.note("tool_tried_out", {
        tool: input.definition.name,
        status_code: output.status_code,
        is_draft: true,
      });
      return output;
    }),
});

const nameTaken = (name: string) =>
  refusal("CONFLICT", `There is already a tool called "${name}".`, { reason: "name_taken" });

function notFound(name: string): never {
  throw refusal("NOT_FOUND", `There is no custom tool called "${name}".`);
}
