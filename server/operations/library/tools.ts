import { z } from "zod";
import { Json } from "@/server/domain/base/values";
import { CREW_TOOL_NOTES } from "@/server/domain/crew/crew-tools";
import { isGranted } from "@/server/domain/tool/tool";
import { redactJson } from "@/server/secrets/redact";
import { operationsOf } from "../operation";
import { ListedTools } from "./library-schemas";

const { mutation, query } = operationsOf("Tools");

/** What agents can call: what there is, who may use it, and trying it out. */
export const toolOperations = {
  /** `used_by`: the roles that name it. `crew`: executed by the run itself, granted by the crew's process. */
  list: query({
    name: "listTools",
    summary: "List tools and the roles that use them",
    needs: "read",
    input: z.void(),
    output: ListedTools,
    http: { route: "GET /tools", success: "Tools by name, and actions that the run executes itself" },
    run(services) {
      const roles = services.roles.all();
      const usersOf = (tool: string) =>
        roles.flatMap(({ name, tools }) => (isGranted(tools, tool) ? [name] : []));
      return {
        tools: services.registry.list().map((spec) => ({ ...spec, used_by: usersOf(spec.name) })),
        crew: CREW_TOOL_NOTES.map((note) => ({ ...note, used_by: usersOf(note.name) })),
      };
    },
  }),

  /** Only what roles may name: for pickers, and for telling what is missing. */
  names: query({
    name: "listToolNames",
    summary: "List tool names for roles",
    needs: "read",
    input: z.void(),
    http: { browserOnly: "a short form for pickers; programs use listTools" },
    run: ({ registry, toolSources, installation }) => ({
      tools: registry
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
          unavailable: unavailable ?? null,
        })),
      mcp_servers: toolSources.mcp.list().map(({ name }) => name),
      delegates_may_keep_tools: installation.delegate_tools !== "shared",
    }),
  }),

  /** Really calls a tool, outside of any run. Gives an output in every case, with how long it took. */
  tryOut: mutation({
    name: "tryTool",
    summary: "Call a tool outside a run",
    needs: "author",
    input: z.object({ name: z.string().max(200), args: z.record(z.string(), Json) }),
    audits: ["tool_tried_out"],
    http: { personOnly: "outside a run, no policy applies and no one is asked to confirm" },
    async run({ registry }, { name, args }, { note, signal }) {
      const began = Date.now();
      const output = await registry.invoke(name, args, {
        signal: signal ?? new AbortController().signal,
        idempotencyKey: `try:${crypto.randomUUID()}`,
        run: null,
        agent: null,
      });
      // What was passed stays out of the record: it may hold anything.
      note("tool_tried_out", { tool: name, status_code: output.status_code });
      // A program of the operator can read and repeat what is redacted elsewhere, too.
      return { output: redactJson(output), duration_ms: Date.now() - began };
    },
  }),
};
