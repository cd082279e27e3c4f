import { z } from "zod";
import { Json } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import { operationsOf } from "../operation";
import { CustomTool } from "./library-schemas";

const { mutation, query } = operationsOf("Tools");

const ByName = z.object({ name: z.string() });
const noTool = (name: string) => new Rejection("not_found", `There is no custom tool "${name}".`);
const nameTaken = (name: string) =>
  new Rejection("name_taken", `A tool "${name}" already exists.`, undefined, {
    reason: "name_taken",
  });
const CODE = "agents run this code, and roles may already use its name";

/** Tools written in the app: their versions, their bin, and trying them out. */
export const customToolOperations = {
  /** `enabled`: whether their code may run here. */
  list: query({
    name: "listCustomTools",
    summary: "List custom tools, including those in the trash",
    needs: "read",
    input: z.void(),
    output: z.object({
      enabled: z.boolean().meta({ description: "Whether custom tools can run here" }),
      tools: z.array(CustomTool),
      bin: z.array(CustomTool),
    }),
    http: { route: "GET /custom-tools", success: "Their latest versions" },
    run: ({ toolSources: { customTools, isCodeEnabled } }) => ({
      enabled: isCodeEnabled,
      tools: customTools.list(),
      bin: customTools.bin(),
    }),
  }),

  get: query({
    name: "getCustomTool",
    summary: "Get a custom tool",
    needs: "read",
    input: ByName,
    output: CustomTool,
    http: { route: "GET /custom-tools/{name}", success: "Its latest version" },
    run({ toolSources }, { name }) {
      const tool = toolSources.customTools.find(name);
      if (!tool) throw noTool(name);
      return tool;
    },
  }),

  versions: query({
    name: "listCustomToolVersions",
    summary: "List a custom tool's versions",
    needs: "read",
    input: ByName,
    output: z.array(CustomTool),
    problems: [],
    http: {
      route: "GET /custom-tools/{name}/versions",
      success: "Newest first; empty if there is no such tool",
      as: "versions",
    },
    run: ({ toolSources }, { name }) => toolSources.customTools.versions(name),
  }),

  /** `base_version`: the version that was changed, null for a new tool. */
  save: mutation({
    name: "saveCustomTool",
    summary: "Save a custom tool",
    needs: "admin",
    input: z.object({ definition: CustomToolDefinition, base_version: z.number().int().nullable() }),
    problems: ["name_taken", "changed_meanwhile"],
    audits: ["custom_tool_saved"],
    http: { personOnly: CODE },
    run({ toolSources }, { definition, base_version }, { note }) {
      const { name } = definition;
      if (toolSources.isTaken(name)) throw nameTaken(name);
      const result = toolSources.customTools.save(definition, base_version);
      if (!result.saved && result.reason === "name_taken") throw nameTaken(name);
      if (!result.saved)
        throw new Rejection("changed_meanwhile", "This tool was changed elsewhere. Reload it.", undefined, {
          reason: "stale",
          current: toolSources.customTools.find(name) ?? null,
        });
      toolSources.customToolsChanged();
      note("custom_tool_saved", { tool: name, version: result.version });
      return { name, version: result.version };
    },
  }),

  remove: mutation({
    name: "deleteCustomTool",
    summary: "Move a custom tool to the trash",
    about: "A person can restore it.",
    needs: "author",
    input: ByName,
    audits: ["custom_tool_removed"],
    http: { route: "DELETE /custom-tools/{name}", success: "Moved to the trash; it can no longer be called" },
    run({ toolSources }, { name }, { note }) {
      if (!toolSources.customTools.remove(name)) throw noTool(name);
      toolSources.customToolsChanged();
      note("custom_tool_removed", { tool: name });
      return { name };
    },
  }),

  /** Out of the bin; with a version: makes that one the newest again. */
  restore: mutation({
    name: "restoreCustomTool",
    summary: "Restore a custom tool, or an older version of it",
    needs: "admin",
    input: ByName.extend({ version: z.number().int().optional() }),
    problems: ["not_found"],
    audits: ["custom_tool_restored"],
    http: { personOnly: CODE },
    run({ toolSources }, { name, version }, { note }) {
      const { customTools } = toolSources;
      const done =
        version === undefined
          ? customTools.restore(name)
          : customTools.restoreVersion(name, version) !== undefined;
      if (!done) throw noTool(name);
      toolSources.customToolsChanged();
      const newest = customTools.find(name)?.version ?? null;
      note("custom_tool_restored", {
        tool: name,
        version: newest,
        ...(version && { from_version: version }),
      });
      return { name, version: newest };
    },
  }),

  /** Calls an unsaved tool; returns the real result, or the real error. */
  try: mutation({
    name: "tryCustomTool",
    summary: "Try a custom tool before saving it",
    needs: "admin",
    input: z.object({ definition: CustomToolDefinition, args: Json }),
    audits: ["tool_tried_out"],
    http: { personOnly: "this runs code that no one has reviewed yet" },
    async run({ toolSources }, { definition, args }, { note, signal }) {
      const output = await toolSources.tryOut(definition, args, signal ?? new AbortController().signal);
      note("tool_tried_out", { tool: definition.name, status_code: output.status_code, is_draft: true });
      return output;
    },
  }),
};
