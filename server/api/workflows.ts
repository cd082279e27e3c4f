import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { lossesOf, readWorkflow, writeWorkflow } from "@/server/domain/document";
import { WorkflowGraph } from "@/server/domain/graph";
import { toId } from "@/server/domain/ids";
import { withLibrary } from "@/server/domain/library";
import { roleUses } from "@/server/domain/role-use";
import { sketchOf } from "@/server/domain/sketch";
import type { WorkflowStore } from "@/server/store/workflows";
import { findTemplate, templates } from "@/server/templates";
import { AllowTools, bringRoles, safeWorkflow, seenRole } from "./role-import";
import { procedure, refusal, router } from "./trpc";

const Name = z.string().trim().min(1, "Give it a name").max(200, "At most 200 characters");
const FileText = z.string().max(5 * 1024 * 1024, "The file is larger than 5 MB");
const ById = z.object({ id: z.string() });

/** Saved workflows: list, edit, templates, files. */
export const workflowsRouter = router({
  list: procedure.query(({ ctx }) => {
    const runs = ctx.troupe.runs.byWorkflow();
    return ctx.troupe.workflows.list().map(({ id, name, revision, graph, updated_at }) => ({
      id,
      name,
      description: graph.description ?? "",
      revision,
      node_count: Object.values(graph.nodes).filter(({ node_type }) => node_type !== "note").length,
      sketch: sketchOf(graph),
      updated_at,
      last_run: runs.get(id)?.last_run ?? null,
      run_count: runs.get(id)?.run_count ?? 0,
    }));
  }),

  get: procedure.input(ById).query(({ ctx, input }) => ctx.troupe.workflows.find(input.id) ?? notFound()),

  create: procedure
    .input(z.object({ name: Name.optional(), graph: WorkflowGraph.optional() }))
    .mutation(({ ctx, input }) => {
      const name = input.name ?? freshName("Untitled workflow", ctx.troupe.workflows);
      return { id: ctx.troupe.workflows.create({ name, graph: input.graph ?? blankGraph(name) }) };
    }),

  save: procedure
    .input(
      z.object({
        id: z.string(),
        revision: z.number().int(),
        name: Name.optional(),
        graph: WorkflowGraph,
      }),
    )
    .mutation(({ ctx, input }) => {
      const result = ctx.troupe.workflows.save(input);
      if (result.saved) return { revision: result.revision, updated_at: result.updated_at };
      if (!result.current) return notFound();
      const { revision, graph, name, updated_at } = result.current;
      throw refusal("CONFLICT", "This workflow was changed in another place.", {
        revision,
        graph,
        name,
        updated_at,
      });
    }),

  rename: procedure.input(z.object({ id: z.string(), name: Name })).mutation(({ ctx, input }) => {
    if (!ctx.troupe.workflows.rename(input.id, input.name)) notFound();
  }),

  duplicate: procedure
    .input(ById)
    .mutation(({ ctx, input }) => ({ id: ctx.troupe.workflows.duplicate(input.id) ?? notFound() })),

  /** Into the bin; `restore` brings it back. */
  remove: procedure.input(ById).mutation(({ ctx, input }) => {
    if (!ctx.troupe.workflows.remove(input.id)) notFound();
  }),

  restore: procedure.input(ById).mutation(({ ctx, input }) => {
    if (!ctx.troupe.workflows.restore(input.id)) notFound();
  }),

  templates: procedure.query(() =>
    templates.map(({ key, title, description, graph }) => ({
      key,
      title,
      description,
      node_count: Object.values(graph.nodes).filter(({ node_type }) => node_type !== "note").length,
      graph,
      sketch: sketchOf(graph),
    })),
  ),

  fromTemplate: procedure.input(z.object({ key: z.string() })).mutation(({ ctx, input }) => {
    const template = findTemplate(input.key);
    if (!template) throw new TRPCError({ code: "NOT_FOUND", message: "There is no such template." });
    const name = freshName(template.title, ctx.troupe.workflows);
    return { id: ctx.troupe.workflows.create({ name, graph: template.graph }) };
  }),

  export: procedure
    .input(
      z.object({
        id: z.string(),
        flavour: z.enum(["troupe", "openhands"]).default("troupe"),
        roles: z.enum(["included", "referenced"]).default("included"),
      }),
    )
    .query(({ ctx, input }) => {
      const { name, graph: saved } = ctx.troupe.workflows.find(input.id) ?? notFound();
      // A file must be whole: crews and agents of the library go along as copies.
      const graph = withLibrary(saved, ctx.troupe.library);
      const used = roleUses(graph);
      const roles =
        input.roles === "included" ? ctx.troupe.roles.all().filter((role) => used.has(role.name)) : undefined;
      return {
        file_name: `${toId(name).toLowerCase() || "workflow"}.json`,
        text: writeWorkflow(graph, { flavour: input.flavour, name, ...(roles ? { roles } : {}) }),
        losses: lossesOf(graph, input.flavour),
      };
    }),

  /** Says what an import would bring and lose; changes nothing. A mutation only because files are too long for an address. */
  previewImport: procedure.input(z.object({ text: FileText })).mutation(({ ctx, input }) => {
    const { graph, name, roles, findings } = safeWorkflow(readWorkflow(input.text));
    return {
      ok: graph !== null,
      name,
      graph,
      roles: roles.map((role) => seenRole(role, ctx.troupe.roles)),
      findings,
    };
  }),

  import: procedure
    .input(
      z.object({
        text: FileText,
        name: Name.optional(),
        /** What becomes of the file's roles: add those that are new here, replace ours, or leave them out. */
        roles: z.enum(["add_new", "replace", "skip"]).default("add_new"),
        allow_tools: AllowTools,
      }),
    )
    .mutation(({ ctx, input }) => {
      const { graph, name, roles, findings } = safeWorkflow(readWorkflow(input.text));
      if (!graph) throw refusal("BAD_REQUEST", "This file holds no workflow that can be read.", { findings });
      const { left_out } = bringRoles(input.roles === "skip" ? [] : roles, {
        store: ctx.troupe.roles,
        existing: input.roles === "replace" ? "replace" : "skip",
        allow_tools: input.allow_tools,
        note: ctx.note,
      });
      const called = input.name ?? (name.trim().slice(0, 200) || "Imported workflow");
      return { id: ctx.troupe.workflows.create({ name: called, graph }), findings, left_out };
    }),
});

function notFound(): never {
  throw new TRPCError({ code: "NOT_FOUND", message: "This workflow does not exist, or was deleted." });
}

/** The name itself, or with the first number behind it that makes it new. */
function freshName(base: string, workflows: WorkflowStore): string {
  const taken = new Set(workflows.list().map(({ name }) => name));
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base} ${n}`;
    if (!taken.has(name)) return name;
  }
}

/** Where a drawing begins: a start and an end, with room between them. */
function blankGraph(name: string): WorkflowGraph {
  return WorkflowGraph.parse({
    graph_id: toId(name) || "workflow",
    start_node_id: "start",
    nodes: {
      start: {
        id: "start",
        node_type: "start",
        name: "Start",
        output_keys: ["user_request"],
        ui: { x: 0, y: 0 },
      },
      end: { id: "end", node_type: "end", name: "End", ui: { x: 680, y: 0 } },
    },
    edges: [],
  });
}
