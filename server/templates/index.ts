import { z } from "zod";
import { exampleFiles } from "@/examples";
import { RoleDefinition } from "@/server/domain/agent/role";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";

/** A template: an example. Each runs unchanged, without a key, with the offline model. */
export interface Template {
  key: ExampleKey;
  title: string;
  description: string;
  graph: WorkflowGraph;
  /** The roles that it uses. */
  roles: readonly RoleDefinition[];
  tests: readonly ScenarioTest[];
}

/** The folder of an example. */
export type ExampleKey = keyof typeof exampleFiles;

const WorkflowFile = z.object({
  workflow: WorkflowGraph,
  roles: z.array(RoleDefinition),
  tests: z.array(ScenarioTest),
});

/** The template of an example. Its file is parsed on first use: every start loads this. */
export function templateOf(key: ExampleKey): Template {
  const { workflow: file } = exampleFiles[key];
  let parsed: z.output<typeof WorkflowFile> | undefined;
  const contents = () => (parsed ??= WorkflowFile.parse(file));
  return {
    key,
    title: file.name,
    description: file.workflow.description,
    get graph() {
      return contents().workflow;
    },
    get roles() {
      return contents().roles;
    },
    get tests() {
      return contents().tests;
    },
  };
}

/** Templates that need only built-in roles, and ask for nothing but text and approvals. */
export const templates: readonly Template[] = (
  [
    "approval",
    "approval-by-person",
    "research-and-write",
    "code-and-review",
    "parallel-views",
    "planned-crew",
    "research-crew",
    "data-analysis",
    "support-desk",
    "consensus",
    "review-cycle",
    "development-team",
  ] as const
).map(templateOf);

/** Every template, in the order in which they are offered. */
export const gallery: readonly Template[] = [
  ...templates,
  ...(
    [
      "support-triage",
      "contract-review",
      "translation-review",
      "invoice-check",
      "incident-report",
      "release-notes",
      "weekly-brief",
      "hiring-screen",
      "ticket-summaries",
    ] as const
  ).map(templateOf),
];

export function findTemplate(key: string): Template | undefined {
  return gallery.find((template) => template.key === key);
}
