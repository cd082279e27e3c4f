import { z } from "zod";
import { manifestOf, noteAllowed } from "@/server/access/manifest";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { readWorkflow } from "@/server/domain/graph/document";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { capabilitiesAdded, capabilitiesOf } from "@/server/domain/library/capabilities";
import { withLibrary } from "@/server/domain/library/library";
import { workflowOf, workflowOperations } from "@/server/operations/workflows";
import type { Container } from "@/server/services";
import type { StoredWorkflow } from "@/server/store/workflows";
import { procedures } from "./expose";
import { bringRoles, safeWorkflow, seenRole } from "./role-import";
import { procedure, refusal, router } from "./trpc";

const Name = z.string().trim().min(1, "Give it a name").max(200, "At most 200 characters");
const FileText = z.string().max(5 * 1024 * 1024, "The file is larger than 5 MB");
/** Keys of capabilities. */
const Keys = z.array(z.string().max(1_000)).max(5_000).default([]);
/** What becomes of a file's roles: those that are new here are added, ours are replaced, or they are left out. */
const RoleChoice = z.enum(["add_new", "replace", "skip"]).default("add_new");

/** Saved workflows; what a person is asked while a file comes in is for the browser alone. */
export const workflowsRouter = router({
  ...procedures(workflowOperations),

  /**
   * Says what an import would bring and lose; changes nothing. `over`: the workflow that it would replace. A mutation
   * only because files are too long for an address.
   */
  previewImport: procedure
    .input(z.object({ text: FileText, roles: RoleChoice, over: z.string().optional() }))
    .mutation(({ ctx, input }) => {
      const { graph, name, roles, findings } = safeWorkflow(readWorkflow(input.text));
      const { troupe } = ctx;
      const before = input.over === undefined ? undefined : workflowOf(troupe, input.over);
      return {
        ok: graph !== null,
        name,
        graph,
        roles: roles.map((role) => seenRole(role, troupe.roles)),
        capabilities: graph
          ? askedBy(graph, { troupe, roles: comingOf(roles, input.roles, troupe), before })
          : [],
        /** Workflows of the same name: one of them may be meant. */
        twins: troupe.workflows
          .list()
          .flatMap((other) => (other.name === name ? [{ id: other.id, name: other.name }] : [])),
        findings,
      };
    }),

  import: procedure
    .input(
      z.object({
        text: FileText,
        name: Name.optional(),
        roles: RoleChoice,
        /** Keys of what the workflow may use here; the rest of what it asks for is withheld. */
        allow: Keys,
        /** The workflow to replace; absent: a new one. */
        over: z.string().optional(),
      }),
    )
    .mutation(({ ctx, input }) => {
      const { graph, name, roles, findings } = safeWorkflow(readWorkflow(input.text));
      if (!graph) throw refusal("BAD_REQUEST", "This file holds no workflow that can be read.", { findings });
      const { troupe } = ctx;
      const before = input.over === undefined ? undefined : workflowOf(troupe, input.over);
      const asked = askedBy(graph, { troupe, roles: comingOf(roles, input.roles, troupe), before });
      const { left_out } = bringRoles(input.roles === "skip" ? [] : roles, {
        store: troupe.roles,
        existing: input.roles === "replace" ? "replace" : "skip",
        allow_tools: input.allow.flatMap((key) => (key.startsWith("tool:") ? [key.slice(5)] : [])),
        note: ctx.note,
      });
      const called = input.name ?? (name.trim().slice(0, 200) || "Imported workflow");
      const id = before
        ? replace(troupe, before, { name: called, graph })
        : troupe.workflows.create({ name: called, graph });
      const withheld = asked.flatMap(({ key }) => (input.allow.includes(key) ? [] : [key]));
      troupe.workflows.withhold(id, withheld);
      const allowed = asked.flatMap(({ key }) => (withheld.includes(key) ? [] : [key]));
      // Where nothing was allowed, nothing happened to anybody's rights.
      if (allowed.length > 0) noteAllowed(ctx.note, { id, name: called }, allowed, withheld);
      return { id, findings, left_out, withheld };
    }),
});

/** The roles of a file that would come in. */
function comingOf(roles: readonly RoleDefinition[], choice: z.infer<typeof RoleChoice>, troupe: Container) {
  if (choice === "skip") return [];
  return roles.filter((role) => {
    const { state } = seenRole(role, troupe.roles);
    return state === "new" || (state === "differs" && choice === "replace");
  });
}

/** What a file's drawing and the roles that come with it would use here. */
function askedBy(
  graph: WorkflowGraph,
  how: { troupe: Container; roles: readonly RoleDefinition[]; before: StoredWorkflow | undefined },
) {
  const { troupe, roles, before } = how;
  // A role that is here already keeps its tools, and may gain those that the file names.
  const tools = new Map(troupe.roles.all().map((role) => [role.name, new Set(role.tools)]));
  for (const role of roles) tools.set(role.name, new Set([...(tools.get(role.name) ?? []), ...role.tools]));
  const cast = [...tools].map(([name, own]) => ({ name, tools: [...own] }));
  const asked = capabilitiesOf(withLibrary(graph, troupe.library), cast);
  for (const role of roles)
    for (const tool of seenRole(role, troupe.roles).asks) {
      const known = asked.find(({ key }) => key === `tool:${tool}`);
      if (!known) asked.push({ key: `tool:${tool}`, kind: "tool", name: tool, where: [{ role: role.name }] });
      else if (!known.where.some((at) => at.role === role.name)) known.where.push({ role: role.name });
    }
  const old = before && manifestOf(before.graph, { ...troupe, withheld: before.withheld });
  const added = new Set(capabilitiesAdded(old ?? [], asked).map(({ key }) => key));
  return asked.map((one) => ({
    ...one,
    /** Whether the workflow that it would replace may use it already. */
    had: !added.has(one.key) && (old?.find(({ key }) => key === one.key)?.allowed ?? false),
  }));
}

function replace(
  { workflows }: Container,
  { id, revision }: StoredWorkflow,
  change: { name: string; graph: WorkflowGraph },
): string {
  if (!workflows.save({ id, revision, ...change }).saved)
    throw refusal("CONFLICT", "This workflow was changed in another place. Look at the file again.");
  return id;
}
