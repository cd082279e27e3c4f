import { z } from "zod";
import { CustomToolDefinition } from "@/server/domain/custom-tool";
import { Json } from "@/server/domain/values";
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
      return { name, version: result.version };
    }),

  remove: procedure.input(ByName).mutation(({ ctx, input }) => {
    const sources = toolSourcesOf(ctx.troupe);
    if (!sources.customTools.remove(input.name)) notFound(input.name);
    sources.customToolsChanged();
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
      return { name, version: sources.customTools.find(name)?.version ?? null };
    }),

  /** Calls a tool as it is being written; the real result, or the real failure. */
  try: procedure
    .input(z.object({ definition: CustomToolDefinition, args: Json }))
    .mutation(({ ctx, input, signal }) =>
      toolSourcesOf(ctx.troupe).tryOut(input.definition, input.args, signal ?? new AbortController().signal),
    ),
});

const nameTaken = (name: string) =>
  refusal("CONFLICT", `There is already a tool called "${name}".`, { reason: "name_taken" });

function notFound(name: string): never {
  throw refusal("NOT_FOUND", `There is no custom tool called "${name}".`);
}
