import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { findProblems } from "@/server/domain/problems/problems";
import { readImport } from "@/server/interop/import/pipeline";

/*
 * Every example of the reference documents, as it stands: read from the documents at the time of the test (from
 * TROUPE_REFERENCES, by default beside the folder of fixtures; skipped where they are not there). An example comes in
 * by an import, or is held by a test that is named here, or is not for Troupe, and here stands why. A further example
 * in the documents fails the test until somebody says which.
 */

const root = path.resolve(import.meta.dirname, "../..");
const folder = path.resolve(root, process.env.TROUPE_REFERENCES ?? "../shared/reference");
const testIn = (file: string, title: string) => ({ file, title });

type Fate =
  /** It comes in as it stands; a workflow without an error. */
  | { imports: "workflow" | "crew" | "role" }
  /** It is refused in words that say what it is, and what to do instead. */
  | { rejected: RegExp }
  /** A test shows the same thing, in the words of Troupe. */
  | { held: { file: string; title: string } }
  | { notHere: string };

const SIGNATURE =
  "It is the signature of a Python method, without a body: it shows what a class of an agent has to have";

/** By the document and a piece of the example that only it has. */
const EXAMPLES: readonly (readonly [document: string, piece: string, Fate])[] = [
  ["openhands-role-based-agents", "- name: PythonDeveloper", { imports: "role" }],
  [
    "openhands-role-based-agents",
    "class MyCustomTool(ToolInterface)",
    { rejected: /"my_custom_tool" is a tool in code.*TROUPE_TOOLS_FILE/s },
  ],
  [
    "openhands-role-based-agents",
    "tools_registry_instance.register_tool(my_tool)",
    { held: testIn("openhands-roles.test.ts", "ToolsRegistry registers, returns and unregisters tools") },
  ],
  [
    "openhands-role-based-agents",
    "# Inside an agent's execute_task method:",
    {
      held: testIn(
        "openhands-roles.test.ts",
        "an agent receives a tool's error and can continue without the tool",
      ),
    },
  ],
  ["openhands-role-based-agents", "planner_role_def = RoleDefinition(", { imports: "crew" }],
  ["openhands-role-based-agents", "class MyCustomAgentWithTools(AbstractBaseAgent)", { imports: "role" }],
  ["openhands-agent-hub", "def step(self, state", { notHere: SIGNATURE }],
  [
    "openhands-agent-hub",
    "-- TASK STARTS (SUBTASK 0 STARTS) --",
    {
      held: testIn(
        "openhands-agent-hub.test.ts",
        "multi-agent state tracks the root task, subtasks, shared and local iterations and delegate levels",
      ),
    },
  ],
  ["roboco-collaboration-and-planning", '"task_id": "task_001"', { imports: "workflow" }],
  [
    "roboco-collaboration-and-planning",
    '"step_id": "step_abc"',
    { rejected: /TaskStep.*plan\.json.*team file/ },
  ],
  ["roboco-collaboration-and-planning", "parallel_groups:", { imports: "crew" }],
  ["roboco-collaboration-and-planning", 'name: "code_review_cycle"', { imports: "crew" }],
  ["roboco-collaboration-and-planning", 'name: "custom_analyzer"', { imports: "role" }],
  [
    "roboco-collaboration-and-planning",
    "TOOL_CALL:",
    {
      held: testIn("roboco.test.ts", "8.1 the prompt lists tools with signatures and the TOOL_CALL format"),
    },
  ],
  [
    "taskweaver-roles",
    "anomaly_detection plugin",
    {
      held: testIn("taskweaver.test.ts", "the planner and the code interpreter are roles like any other"),
    },
  ],
  [
    "taskweaver-roles",
    "instructions=read_manual()",
    {
      held: testIn("taskweaver.test.ts", "the planner and the code interpreter are roles like any other"),
    },
  ],
  ["taskweaver-roles", "def reply(self, memory: Memory", { notHere: SIGNATURE }],
  [
    "taskweaver-roles",
    'B --"step 1"--> C[Role 1]',
    {
      held: testIn(
        "taskweaver.test.ts",
        "the planner sends one step to each role and responds after their replies",
      ),
    },
  ],
  [
    "taskweaver-roles",
    "def write_board(self",
    {
      held: testIn("taskweaver.test.ts", "write_board and read_board keep the last bulletin of each alias"),
    },
  ],
  ["openhands-graph-workflows", "example_workflow_dict = {", { imports: "workflow" }],
  [
    "openhands-graph-workflows",
    "def approval_status_router(",
    { held: testIn("openhands-graphs.test.ts", "routers of a workflow use a shared") },
  ],
  [
    "openhands-graph-workflows",
    "await workflow_manager.process_workflow",
    { held: testIn("openhands-graphs.test.ts", "an approved request takes the approved route") },
  ],
];

/** The fenced blocks of a document, in order. */
const blocksOf = (text: string): string[] =>
  [...text.matchAll(/^( *)```[^\n]*\n([\s\S]*?)^\1```$/gm)].map(([, indent = "", body = ""]) =>
    body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );

const documents = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".md")) : [];
const examples = documents.flatMap((name) =>
  blocksOf(readFileSync(path.join(folder, name), "utf8")).map((text) => ({
    document: name.replace(/\.md$/, ""),
    text,
  })),
);

describe.skipIf(documents.length === 0)("the examples of the reference documents", () => {
  test("each reference example is covered exactly once", () => {
    const spoken = examples.map(({ document, text }) => ({
      example: `${document}: ${text.slice(0, 80)}`,
      by: EXAMPLES.filter(([of, piece]) => of === document && text.includes(piece)).length,
    }));
    expect(spoken.filter(({ by }) => by !== 1)).toEqual([]);
    expect(examples).toHaveLength(EXAMPLES.length);
  });

  test.each(documents)("a whole document pasted is its examples, of which one is picked: %s", (name) => {
    const { found, findings } = readImport([
      { path: "", text: readFileSync(path.join(folder, name), "utf8") },
    ]);
    const own = EXAMPLES.filter(
      ([document, , fate]) => name.startsWith(document) && ("imports" in fate || "rejected" in fate),
    );
    expect(found.length).toBeGreaterThanOrEqual(own.length);
    if (found.length === 0) expect(findings.at(-1)?.level).toBe("error");
  });

  test.each(EXAMPLES.map(([document, piece, fate]) => ({ document, piece, fate })))(
    "an example of $document is handled as declared: $piece",
    ({ document, piece, fate }) => {
      const { text = "" } =
        examples.find((one) => one.document === document && one.text.includes(piece)) ?? {};
      if ("notHere" in fate) return expect(fate.notHere).toMatch(/\w{3}/);
      if ("held" in fate)
        return expect(readFileSync(path.join(import.meta.dirname, fate.held.file), "utf8")).toContain(
          fate.held.title,
        );
      const { imported, findings } = readImport([{ path: "", text }]);
      if ("rejected" in fate) {
        expect(imported).toBeNull();
        return expect(findings.map(({ message }) => message).join("\n")).toMatch(fate.rejected);
      }
      expect(findings.filter(({ level }) => level === "error")).toEqual([]);
      if (imported?.graph)
        expect(
          findProblems(imported.graph, [...builtinRoles, ...imported.roles]).filter(
            ({ severity }) => severity === "error",
          ),
        ).toEqual([]);
      const brought = { workflow: imported?.graph, crew: imported?.crews[0], role: imported?.roles[0] };
      return expect(brought[fate.imports]).toBeTruthy();
    },
  );
});
