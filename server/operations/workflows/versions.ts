import { z } from "zod";
import { auditName } from "@/server/access/principal";
import { Json } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { writeWorkflow } from "@/server/domain/graph/document/document";
import { versionDifferences } from "@/server/domain/graph/version/differences";
import type { VersionContent } from "@/server/domain/graph/version/version-diff";
import { roleUses } from "@/server/domain/library/role-use";
import { newWordDifference } from "@/server/domain/text/word-diff";
import { publishable } from "@/server/runner/lifecycle/launch";
import { versionOf } from "@/server/runner/lifecycle/workflow-version";
import { RESTORE_REASONS } from "@/server/store/versions/restore-points";
import { type StoredVersion, VersionTests } from "@/server/store/versions/workflow-versions";
import { Time } from "../common-schemas";
import { type Caller, operationsOf } from "../operation";
import type { Place } from "../paging";
import { notFound } from "../rejections";
import type { Services } from "../services";
import { testVersion } from "./published-tests";
import { workflowOf } from "./stored-workflow";
import { WorkflowFile } from "./workflow-schemas";

const { mutation, query } = operationsOf("Workflows");

const ByWorkflow = z.object({ workflow_id: z.string() });
const ByVersion = ByWorkflow.extend({ n: z.int().min(1) });
const AnyVersion = z
  .union([z.literal("draft"), z.coerce.number<string | number>().int().min(1)])
  .meta({ description: "The number of a version, or `draft`" });
const Note = z.string().trim().max(2_000);
const CLI_FIELDS = { workflow: "workflow_id" };

const Version = z.object({
  number: z.int(),
  name: z.string().meta({ description: "Of the workflow when it was published" }),
  note: z.string(),
  by: z.string(),
  tests: VersionTests.nullable().meta({
    description: "Results of the workflow's tests on this version; null if it had no tests",
  }),
  created_at: Time,
});
const Published = Version.extend({
  created: z.boolean().meta({ description: "False if nothing has changed since this version" }),
});

const Step = z.union([z.string(), z.record(z.string(), z.string())]);
const VersionDiff = z.object({
  changes: z
    .array(
      z.object({
        path: z.array(Step).meta({
          description: 'Such as ["graph", "nodes", "ask", "name"] or ["graph", "edges", {"id": "edge_1"}]',
        }),
        before: Json.exactOptional(),
        after: Json.exactOptional(),
        order: z.object({ by: z.string(), ids: z.array(z.string()) }).exactOptional(),
      }),
    )
    .meta({ description: "The exact differences: applied to the first version, they produce the second" }),
  differences: z
    .array(
      z.object({
        kind: z.enum(["added", "removed", "changed", "moved"]),
        at: z.object({ kind: z.string(), id: z.string().exactOptional() }),
        text: z.string(),
        details: z.string().exactOptional(),
        texts: z.array(
          z.object({
            label: z.string(),
            pieces: z.array(z.object({ kind: z.enum(["same", "removed", "added"]), text: z.string() })),
          }),
        ),
      }),
    )
    .meta({ description: "The same differences as text for people, with changed texts word by word" }),
});

/** Published versions and restore points. */
export const versionOperations = {
  publish: mutation({
    name: "publishWorkflow",
    summary: "Publish a workflow",
    about:
      "Creates an immutable version of the draft, with copies of its roles, agents and crews, and with its permissions. Permissions blocked later are blocked in it, too. Triggers and other workflows run the newest version. Its tests run in the background. If nothing has changed since the newest version, returns that one.",
    needs: "author",
    input: ByWorkflow.extend({
      note: Note.default(""),
      revision: z.int().optional().meta({ description: "Publish only if this is the draft's revision" }),
    }),
    output: Published,
    problems: ["not_found", "changed_meanwhile", "invalid_input", "workflow_has_problems"],
    audits: ["workflow_published"],
    http: { route: "POST /workflows/{id}/versions", success: "The version" },
    cli: [{ form: "publish WORKFLOW [--note NOTE]", fields: CLI_FIELDS }],
    run(services, { workflow_id, note, revision }, caller) {
      const { revision: current } = workflowOf(services, workflow_id);
      if (revision !== undefined && revision !== current)
        throw new Rejection(
          "changed_meanwhile",
          "The draft was changed elsewhere. Check the changes and publish again.",
          { revision: current },
        );
      const content = publishable({ ...services, workflows: services.called }, workflow_id);
      if (!content) throw notFound("workflow");
      const by = auditName(caller.principal);
      const made = services.versions.publish(workflow_id, { ...content, note, by });
      return published(services, workflow_id, made, caller);
    },
  }),

  list: query({
    name: "listWorkflowVersions",
    summary: "List a workflow's published versions, newest first",
    about: "The first one is in use.",
    needs: "read",
    input: ByWorkflow,
    output: z.array(Version),
    http: {
      route: "GET /workflows/{id}/versions",
      success: "A page of versions",
      as: "versions",
      page: ({ number }: z.output<typeof Version>): Place => [number, String(number)],
    },
    cli: [{ form: "versions WORKFLOW", fields: CLI_FIELDS }],
    run(services, { workflow_id }) {
      workflowOf(services, workflow_id);
      return services.versions.list(workflow_id);
    },
  }),

  get: query({
    name: "getWorkflowVersion",
    summary: "Get a published version",
    needs: "read",
    input: ByVersion,
    output: WorkflowFile,
    http: {
      route: "GET /workflows/{id}/versions/{n}",
      success: "The version as a workflow file, without tests",
      file: ({ graph, name, roles }: StoredVersion) => ({
        text: writeWorkflow(graph, { flavour: "troupe", name, roles: [...roles] }),
        headers: { "content-type": "application/json; charset=utf-8" },
      }),
    },
    run: (services, { workflow_id, n }) => versionIn(services, workflow_id, n),
  }),

  diff: query({
    name: "compareWorkflowVersions",
    summary: "Compare two versions of a workflow",
    needs: "read",
    input: ByWorkflow.extend({ a: AnyVersion, b: AnyVersion }),
    output: VersionDiff,
    http: { route: "GET /workflows/{id}/versions/{a}/diff/{b}", success: "How b differs from a" },
    run(services, { workflow_id, a, b }) {
      const [before, after] = [contentOf(services, workflow_id, a), contentOf(services, workflow_id, b)];
      const { changes, differences } = versionDifferences(before, after);
      const compare = newWordDifference();
      return {
        changes,
        differences: differences.map(({ texts = [], ...rest }) => ({
          ...rest,
          texts: texts.map(({ label, before: was, after: is }) => ({ label, pieces: compare(was, is) })),
        })),
      };
    },
  }),

  restore: mutation({
    name: "restoreWorkflowVersion",
    summary: "Restore a published version",
    about:
      "Makes the version's graph the draft; the previous draft becomes a restore point. Permissions withheld since then stay withheld in the draft. With `publish`, also publishes the version again, unchanged, with its own roles and permissions.",
    needs: "author",
    input: ByVersion.extend({ publish: z.boolean().default(false) }),
    output: z.object({
      revision: z.int().meta({ description: "Of the draft" }),
      version: Published.nullable().meta({ description: "Null if it was not published" }),
    }),
    audits: ["workflow_published"],
    http: { route: "POST /workflows/{id}/versions/{n}/restore", success: "The draft's revision" },
    cli: [
      {
        form: "rollback WORKFLOW NUMBER",
        summary: "Publish an earlier version again",
        fields: { ...CLI_FIELDS, number: "n" },
        preset: { publish: true },
      },
    ],
    run(services, { workflow_id, n, publish: isPublished }, caller) {
      const { name } = workflowOf(services, workflow_id);
      const { graph, roles, withheld, foreign } = versionIn(services, workflow_id, n);
      const about = { name, note: `Version ${n} again`, by: auditName(caller.principal) };
      const { made, revision } = services.workflows.atOnce(() => ({
        made: isPublished
          ? services.versions.publish(workflow_id, { ...about, graph, roles, withheld, foreign })
          : null,
        revision: services.workflows.putBack(workflow_id, { graph: JSON.stringify(graph), withheld }),
      }));
      if (revision === undefined) throw notFound("workflow");
      return { revision, version: made && published(services, workflow_id, made, caller) };
    },
  }),

  restorePoints: query({
    name: "listRestorePoints",
    summary: "List a workflow's restore points, newest first",
    about:
      "Copies of the draft, kept every 10 minutes of edits and before an import, merge, replacement or restore. Troupe keeps all of the last 24 hours, the last of each earlier day, and at most 100.",
    needs: "read",
    input: ByWorkflow,
    output: z.array(
      z.object({
        id: z.int(),
        name: z.string(),
        reason: z.enum(RESTORE_REASONS).meta({ description: "What changed the draft next" }),
        created_at: Time,
      }),
    ),
    http: {
      route: "GET /workflows/{id}/restore-points",
      success: "All restore points",
      as: "restore_points",
    },
    run(services, { workflow_id }) {
      workflowOf(services, workflow_id);
      return services.workflows.points.list(workflow_id);
    },
  }),

  restorePoint: mutation({
    name: "restoreDraft",
    summary: "Restore a draft from a restore point",
    about: "The previous draft becomes a restore point.",
    needs: "author",
    input: ByWorkflow.extend({ point: z.int() }),
    output: z.object({ revision: z.int() }),
    http: { route: "POST /workflows/{id}/restore-points/{point}/restore", success: "The draft's revision" },
    run(services, { workflow_id, point }) {
      workflowOf(services, workflow_id);
      const found = services.workflows.points.find(workflow_id, point);
      const revision = found && services.workflows.putBack(workflow_id, found);
      if (revision === undefined) throw notFound("restore point");
      return { revision };
    },
  }),
};

/** Throws not_found. */
function versionIn(services: Services, workflowId: string, number: number): StoredVersion {
  workflowOf(services, workflowId);
  const version = services.versions.find(workflowId, number);
  if (!version) throw notFound("version");
  return version;
}

/** Throws not_found. */
function contentOf(services: Services, workflowId: string, which: number | "draft"): VersionContent {
  if (which !== "draft") {
    const { graph, roles, withheld } = versionIn(services, workflowId, which);
    return { graph, roles, withheld };
  }
  const { id } = workflowOf(services, workflowId);
  const draft = versionOf(services, id);
  if (!draft) throw notFound("workflow");
  const used = roleUses(draft.graph);
  const { graph, withheld } = draft;
  return { graph, roles: draft.roles.filter(({ name }) => used.has(name)), withheld };
}

/** What follows from publishing a version, once that is stored. */
function published(
  services: Services,
  workflow_id: string,
  { number, created }: ReturnType<Services["versions"]["publish"]>,
  { note }: Caller,
): z.output<typeof Published> {
  const { name } = versionIn(services, workflow_id, number);
  if (created) {
    note("workflow_published", { workflow_id, workflow: name, version: number });
    testVersion(services, workflow_id, number);
  }
  return { ...Version.parse(versionIn(services, workflow_id, number)), created };
}
