import { describe, expect, test } from "vitest";
import { readImport } from "../../pipeline";
import { blockingProblems } from "../testing/offline-run";

const paste = (text: string) => readImport([{ path: "", text }]);
const said = (read: ReturnType<typeof paste>, level: string) =>
  read.findings.filter((one) => one.level === level).map(({ line, message }) => `${line}: ${message}`);

const ROLES = `
planner = RoleDefinition(
    name="SoftwarePlanner",
    description="Plans " f"work.",
    goals=["Decompose tasks"],
    tools=[],
)
coder = RoleDefinition(name='PythonDeveloper', description='Writes code.', tools=["file_read"], max_age=now())
by_name = {planner.name: planner, coder.name: coder}
agents = [
    AgentConfig(agent_id="planner_alpha", role_name="SoftwarePlanner"),
    AgentConfig(agent_id="developer_beta", role_name="PythonDeveloper", llm_config={"temperature": 0.3}),
]
`;
const PLAN = `
plan = ExecutionPlan(
    user_instruction="Create a tool.",
    tasks=[
        Task(task_id="task_1", description="Plan", required_role="SoftwarePlanner", dependencies=[]),
        Task(task_id="task_2", description="Write", required_role="PythonDeveloper", status=TaskStatus.PENDING,
             raw_instruction=json.dumps({"file": "a.py"}), dependencies=["task_1"]),
    ],
)
`;

describe("OpenHands in Python", () => {
  test("role and agent definitions become a crew with its roles", () => {
    const read = paste(ROLES);
    expect(read.imported?.roles.map(({ name, tools }) => [name, tools])).toEqual([
      ["SoftwarePlanner", []],
      ["PythonDeveloper", ["file_read"]],
    ]);
    expect(read.imported?.crews[0]?.agents.map(({ agent_id }) => agent_id)).toEqual([
      "planner_alpha",
      "developer_beta",
    ]);
    expect(said(read, "dropped")).toEqual(["8: This value is computed in code, so it was left out."]);
  });

  test("a plan with its roles becomes a workflow that can run", () => {
    const read = paste(`from src.core.agent_structures import RoleDefinition\n${ROLES}${PLAN}`);
    expect(blockingProblems(read.imported ?? expect.fail())).toEqual([]);
    expect(read.imported?.roles.map(({ description }) => description)).toEqual([
      "Plans work.",
      "Writes code.",
    ]);
    const crew = Object.values(read.imported?.graph?.nodes ?? {}).find(
      (node) => node.node_type === "crew_task",
    );
    expect(crew?.config).toMatchObject({
      plan: { tasks: [{ task_id: "task_1" }, { raw_instruction: '{"file":"a.py"}', status: "pending" }] },
    });
    expect(said(read, "changed")).toEqual([]);
  });

  test.each([
    [
      "under a name, with comments",
      "# A role\nroles: list = [  # all of them\n  {'name': 'Writer', 'goals': ['Write'], },\n]\n",
    ],
    ["alone", "[{'name': \"Writer\", 'goals': ('Write',), 'description': None, 'is_new': True}]"],
    ["in a fence", "```python\nroles = [{'name': 'Writer', 'goals': ['Write']}]\n```"],
  ])("a Python dict or list is read where JSON is: %s", (_how, text) => {
    expect(paste(text).imported?.roles).toMatchObject([{ name: "Writer", goals: ["Write"] }]);
  });

  test("findings about a dict name its lines", () => {
    const read = paste(
      "x = 1\nroles = [\n  {'name': 'Writer', 'goals': ['Write'],\n   'mood': 'calm'},\n]\n".replace(
        "x = 1\n",
        "",
      ),
    );
    expect(read.findings.map(({ line }) => line)).toEqual([3]);
  });

  test("a class of an agent becomes a role, with its tools and a word about its code", () => {
    const read = paste(`
class Librarian(AbstractBaseAgent):
    """Finds books."""
    async def execute_task(self, task, context):
        return await self._use_tool("web_search", {"query": task.description})
`);
    expect(read.imported?.roles).toMatchObject([
      { name: "Librarian", description: "Finds books.", tools: ["web_search"] },
    ]);
    expect(said(read, "placeholder")[0]).toMatch(/^2: The class "Librarian" became a role.*"execute_task"/);
  });

  test("a class of a tool is named, with where to declare it", () => {
    const read = paste(`
class MyTool(ToolInterface):
    @property
    def name(self):
        return "my_custom_tool"
`);
    expect(read.imported).toBeNull();
    expect(said(read, "dropped").join()).toMatch(/"my_custom_tool" is a tool in code.*TROUPE_TOOLS_FILE/);
  });

  test("JSON that is only broken is called broken JSON", () => {
    expect(said(paste('{"nodes": '), "error").join()).toContain("Invalid JSON");
  });
});

describe("a whole document", () => {
  const document = [
    "# Roles",
    "```yaml",
    "- name: Writer",
    "  goals: [Write]",
    "```",
    "And in Python:",
    "  ```python",
    "  reader = RoleDefinition(name='Reader', goals=[1 < 2, 'Read'])",
    "  ```",
  ].join("\n");

  test("each example is found, and a person picks one", () => {
    const read = paste(document);
    expect(read.found.map(({ format, title }) => [format, title])).toEqual([
      ["troupe-roles", "example line 3.yaml"],
      ["openhands-python", "example line 8.py"],
    ]);
    expect(read.imported?.roles).toMatchObject([{ name: "Writer" }]);
    const second = readImport([{ path: "roles.md", text: document }], { pick: 1 });
    expect(second.imported?.roles).toMatchObject([{ name: "Reader", goals: ["Read"] }]);
    expect(second.findings.find(({ level }) => level === "dropped")).toMatchObject({
      file: "roles.md line 8.py",
      line: 8,
    });
  });
});
