import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { rolePrompt } from "@/server/domain/agent/prompt";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { readImport } from "../../pipeline";
import { blockingProblems, runOffline } from "../testing/offline-run";

const example = (name: string) => ({
  path: name,
  text: readFileSync(path.join(import.meta.dirname, "testing", `${name}.txt`), "utf8"),
});
const read = (name: string) => {
  const result = readImport([example(name)]);
  if (!result.imported?.graph) throw new Error(JSON.stringify(result.findings));
  return { ...result, imported: result.imported, graph: result.imported.graph };
};
const code = (text: string, name = "a.py") => readImport([{ path: name, text }]);

/** A drawing in short: what stands where, and what leads to what. */
const short = ({ nodes, edges }: WorkflowGraph) => ({
  nodes: Object.values(nodes)
    .filter(({ node_type }) => node_type !== "note")
    .map(({ id, node_type }) => `${id}: ${node_type}`),
  edges: edges.map(
    ({ source_node_id, target_node_id, edge_label }) =>
      `${source_node_id} -> ${target_node_id}${edge_label ? ` (${edge_label})` : ""}`,
  ),
});
/** Names as Python writes them, so that both languages can be compared. */
const snake = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value).replace(/[a-z][A-Z]/g, (two) => `${two[0]}_${two[1]?.toLowerCase()}`),
  ) as unknown;

describe("Agent Builder exports", () => {
  test("a single agent becomes a single step with its instructions and requested tools", () => {
    const { imported, graph, findings } = read("single.ts");
    expect(imported.name).toBe("Garden advice");
    expect(short(graph)).toEqual({
      nodes: ["gardener: agent_task", "end: end", "start: start"],
      edges: ["start -> gardener", "gardener -> end"],
    });
    expect(imported.roles.map((role) => rolePrompt(role))).toEqual([
      "You help people with their garden.\n\nWrite {{plant}} names in Latin, too. It costs ${5}.",
    ]);
    expect(imported.tools).toEqual([{ name: "web_search", ours: "web_search", by: ["Gardener"] }]);
    expect(findings.filter(({ level }) => level === "changed").map(({ line }) => line)).toEqual([11]);
  });

  test.each(["single", "branches"])("the %s workflow imports the same from TypeScript and Python", (name) => {
    const [typescript, python] = [read(`${name}.ts`), read(`${name}.py`)];
    const plain = ({ nodes, edges }: WorkflowGraph) =>
      snake({ edges, nodes: Object.values(nodes).filter(({ node_type }) => node_type !== "note") });
    expect(plain(python.graph)).toEqual(plain(typescript.graph));
    expect(snake(python.imported.tools)).toEqual(snake(typescript.imported.tools));
    expect(python.imported.roles).toEqual(typescript.imported.roles);
  });

  test("a branching program becomes an empty step with a code note, and its agents unconnected steps", () => {
    const { imported, graph, findings } = read("branches.ts");
    expect(short(graph)).toEqual({
      nodes: [
        "start: start",
        "program: agent_task",
        "end: end",
        "classify: agent_task",
        "returnAgent: agent_task",
        "retentionAgent: agent_task",
        "informationAgent: agent_task",
      ],
      edges: ["start -> program", "program -> end"],
    });
    expect(graph.nodes.classify).toMatchObject({
      output_keys: ["category"],
      config: {
        task_description_template: "{{message}}",
        output_schema: {
          properties: {
            category: { type: "string", enum: ["return_item", "cancel plan", "get_information"] },
          },
        },
        llm_config: { temperature: 0 },
      },
    });
    expect(findings.filter(({ level }) => level === "placeholder")).toMatchObject([
      { line: 77, node_id: "program", message: expect.stringContaining('"runWorkflow"') },
    ]);
    expect(JSON.stringify(graph.nodes.note_Original_of_The_program)).toContain("runWorkflow");
    expect(blockingProblems(imported).map(({ at }) => at.id)).toContain("program");
  });

  test("program guardrails and computed instructions are reported, and no key is kept", () => {
    const { graph, imported, findings } = read("guarded.ts");
    const dropped = findings.filter(({ level }) => level === "dropped").map(({ message }) => message);
    expect(dropped.join("\n")).toMatch(/instructions of Agent are built in code[\s\S]*Jailbreak, Moderation/);
    expect(graph.nodes.find).toMatchObject({
      output_keys: ["url", "summary", "score"],
      config: {
        output_schema: {
          required: ["url", "summary"],
          properties: { url: { description: "Where it stands" } },
        },
      },
    });
    expect(imported.tools).toEqual([{ name: "statistics", by: ["Agent"] }]);
    expect(JSON.stringify(graph)).not.toContain("OPENAI_API_KEY");
  });
});

describe("hand-written SDK programs", () => {
  test("handoffs become a swarm crew, and a chat loop becomes a single message", () => {
    const { graph, findings } = read("handoffs.py");
    expect(graph.nodes.triage).toMatchObject({
      node_type: "crew_task",
      config: {
        plan_description_template: "{{message}}",
        crew: {
          process: "swarm",
          entry_agent: "triage",
          agents: [
            { agent_id: "triage", handoffs: ["faq", "seats"] },
            { agent_id: "faq", handoffs: ["triage"] },
            { agent_id: "seats", handoffs: ["triage"] },
          ],
        },
      },
    });
    expect(graph.nodes.start?.config).toMatchObject({
      input_schema: { properties: { message: { title: "Message" } } },
    });
    expect(findings.filter(({ level }) => level === "dropped").map(({ message }) => message)).toEqual([
      expect.stringContaining('There is no tool "seat_of"'),
      expect.stringContaining('guardrail "no_homework"'),
      expect.stringContaining('The code of "main" runs "Triage agent"'),
    ]);
  });

  test("agents as tools become a hierarchical crew", () => {
    const { graph } = read("tools.ts");
    expect(graph.nodes.orchestrator).toMatchObject({
      config: { crew: { process: "hierarchical", manager: { agent_id: "orchestrator" } } },
    });
    expect(Object.keys(graph.nodes)).toEqual(expect.arrayContaining(["program", "spanish", "french"]));
  });

  test("every function that runs agents is reported at its line, even with the agent as parameter", () => {
    const { imported, findings } = code(
      `import { Agent, run } from "@openai/agents";
const a = new Agent({ name: "A", instructions: "a" });
const b = new Agent({ name: "B", instructions: "b" });
async function ask(agent, text) {
  return await run(agent, text);
}
const main = async (topic) => {
  const first = await ask(a, topic);
  return await run(b, first.finalOutput);
};
main("cats");
`,
      "main.ts",
    );
    expect(Object.keys(imported?.graph?.nodes ?? {})).toEqual(expect.arrayContaining(["program", "a", "b"]));
    expect(findings.filter(({ message }) => /not imported[:;] .* by hand\./.test(message))).toMatchObject([
      { level: "placeholder", line: 4, message: expect.stringContaining('"ask"') },
      { level: "dropped", line: 7, message: expect.stringContaining('"main"') },
    ]);
  });

  test.each([
    ["a loop", "for x in todo:\n    Runner.run_sync(a, x)\n"],
    ["a condition", "if todo:\n    Runner.run_sync(a, todo)\n"],
  ])("an agent run inside %s isn't taken for an unconditional run", (_what, text) => {
    const { imported } = code(`from agents import Agent, Runner\na = Agent(name="A")\n${text}`);
    expect(Object.keys(imported?.graph?.nodes ?? {})).toContain("program");
  });

  test("code in Markdown fences is read with the line numbers of the file", () => {
    const { imported, findings } = code(
      `# How it works\n\n\`\`\`python\nfrom agents import Agent, Runner\na = Agent(name="A", instructions="x")\nRunner.run_sync(a, "hi")\n\`\`\`\n\nThat's (all) { of it.\n`,
      "spec.md",
    );
    expect(imported?.graph?.nodes.a?.config).toMatchObject({ task_description_template: "hi" });
    expect(findings.map(({ level, line }) => [level, line])).toEqual([["kept", 5]]);
  });

  test("the program's entry point becomes no step, and a literal input becomes the task", () => {
    const { imported, findings } = code(`from agents import Agent, Runner
a = Agent(name="A", instructions="x")
if __name__ == "__main__":
    print(Runner.run_sync(a, "Say {hi}").final_output)
`);
    const graph = imported?.graph ?? expect.fail();
    expect(short(graph).edges).toEqual(["start -> a", "a -> end"]);
    expect(graph.nodes.a?.config).toMatchObject({ task_description_template: "Say {hi}" });
    expect(findings.filter(({ level }) => level === "placeholder")).toEqual([]);
  });

  test.each(["Runner.run_sync(a, load())", 'Runner.run_sync(a, "hi", max_turns=3)'])(
    "extra inputs of a single call are reported: %s",
    (call) => {
      const { findings } = code(`from agents import Agent, Runner\na = Agent(name="A")\n${call}\n`);
      expect(findings.filter(({ level }) => level === "dropped")).toMatchObject([
        { line: 3, message: expect.stringContaining("Only this step was imported") },
      ]);
    },
  );

  test("unsupported agent arguments are reported: computed instructions, stored prompts, custom models", () => {
    const { findings, imported } = code(`from agents import Agent, Runner
def told(context, agent):
    if context.context.style == "haiku":
        return "Only haikus."
    else:
        return "As a robot."
a = Agent(name="A", instructions=told, model=ChatModel(model="x", client=c), tool_use_behavior="stop_on_first_tool")
b = Agent(name="B", prompt={"id": "pmpt_1"}, hooks=Hooks())
Runner.run_sync(a, [{"role": "user", "content": [{"type": "input_image", "image_url": "https://x.org/a.png"}]}])
Runner.run_sync(b, "hi")
`);
    expect(findings.map(({ message }) => message).join("\n")).toMatch(
      /instructions of A are built in code[\s\S]*"tool_use_behavior" in A[\s\S]*model of A is set in code[\s\S]*prompt of B is stored at OpenAI[\s\S]*"hooks" in B/,
    );
    expect(JSON.stringify(imported?.graph)).toContain("Only haikus.");
  });

  test("a byte order mark is accepted", () => {
    const { findings } = code(
      '\uFEFFfrom agents import Agent, Runner\na = Agent(name="A")\nRunner.run_sync(a, "hi")\n',
    );
    expect(findings.map(({ level }) => level)).toEqual(["kept"]);
  });

  test("agents that nothing runs become roles and agents", () => {
    const { imported } = code(
      'from agents import Agent\nx = Agent(name="X", instructions="Do x.", model="gpt-5")\ny = Agent("Y")\n',
    );
    expect(imported?.graph).toBeNull();
    expect(imported?.roles.map(({ name }) => name)).toEqual(["X", "Y"]);
    expect(imported?.agents.map(({ role_name }) => role_name)).toEqual(["X", "Y"]);
  });

  test.each([
    [
      "a.py",
      `from agents import Agent, Runner, function_tool
@function_tool(needs_approval=True)
def delete_user(id: str):
    return id
@function_tool
def find_user(id: str):
    return id
a = Agent(name="Admin", tools=[find_user, delete_user])
Runner.run_sync(a, "hi")
`,
    ],
    [
      "a.ts",
      `import { Agent, run, tool } from "@openai/agents";
const deleteUser = tool({ name: "delete_user", needsApproval: async () => true, execute: async () => "x" });
const findUser = tool({ name: "find_user", needsApproval: false, execute: async () => "x" });
const a = new Agent({ name: "Admin", tools: [findUser, deleteUser] });
await run(a, "hi");
`,
    ],
    [
      "a.py",
      `from agents import Agent, Runner, HostedMCPTool
a = Agent(name="Admin", tools=[HostedMCPTool(tool_config={"server_label": "delete_user", "require_approval": "always"}), HostedMCPTool(tool_config={"server_label": "find_user", "require_approval": "never"})])
Runner.run_sync(a, "hi")
`,
    ],
  ])("a tool that needs approval makes its role ask, with a finding: %s", (name, text) => {
    const { imported, findings } = code(text, name);
    expect(imported?.roles.map(({ confirmation }) => confirmation)).toEqual([
      { kind: "tools", tools: ["delete_user"] },
    ]);
    expect(findings.filter(({ message }) => message.includes("approve")).map(({ level }) => level)).toEqual([
      "changed",
    ]);
  });

  test("an agent tool that needs approval is reported", () => {
    const { findings } = code(`from agents import Agent, Runner
b = Agent(name="B")
a = Agent(name="A", tools=[b.as_tool("ask_b", "Asks B.", needs_approval=True)])
Runner.run_sync(a, "hi")
`);
    expect(findings.filter(({ message }) => message.includes("approve"))).toHaveLength(1);
  });

  test("a file's model is used only if the user chooses it", () => {
    const text =
      'from agents import Agent, Runner\nx = Agent(name="X", model="gpt-5")\nRunner.run_sync(x, "hi")\n';
    const own = code(text);
    expect(own.imported?.choices).toMatchObject([{ id: "models", value: "own" }]);
    expect(JSON.stringify(own.imported?.graph)).not.toContain("gpt-5");
    const asked = readImport([{ path: "a.py", text }], { answers: { models: "file" } });
    expect(asked.imported?.graph?.nodes.x?.config).toMatchObject({ llm_config: { model: "gpt-5" } });
  });
});

describe("hostile code", () => {
  const head =
    'import { Agent, run } from "@openai/agents";\nconst a = new Agent({ name: "A", instructions: "a" });\n';
  test.each([
    ["brackets", `${head}const x = ${"(".repeat(900_000)}1;\nrun(a, "hi");`, "nested too deeply"],
    ["objects", `${head}const x = ${"{a:".repeat(100_000)}1${"}".repeat(100_000)};\nrun(a, "hi");`, "nested"],
    ["statements", `${head}${"a;".repeat(300_000)}`, "too many parts"],
    ["length", `${head}// ${"a".repeat(2_000_000)}`, "exceeds 1 MiB"],
  ])("code with excessive %s is rejected with a message", (_what, text, expected) => {
    const { imported, findings } = code(text, "a.ts");
    expect(imported).toBeNull();
    expect(findings.filter(({ level }) => level === "error")[0]?.message).toContain(expected);
  });

  test.each([
    ["sums", `${head}const x = ${"1+".repeat(8_000)}1;\nrun(a, x);`],
    ["members", `${head}const x = a${".b".repeat(8_000)};\nrun(a, x);`],
    ["else branches", `${head}${"if (b) { run(a, b) } else ".repeat(300)}{}`],
    ["nested ifs", `${head}${"if (b) ".repeat(4_000)}run(a, b)`],
    [
      "names that refer to themselves",
      `${head}const x = y, y = x; const z = { ...z };\nrun(a, [x, z].join(""));`,
    ],
  ])("code with many %s is read as far as possible", (_what, text) => {
    const { imported, findings } = code(text, "a.ts");
    expect(findings.length).toBeGreaterThan(0);
    expect(imported?.roles.map(({ name }) => name)).toEqual(["A"]);
  });

  test.each([
    ["not operators", `if ${"not ".repeat(5_000)}x:\n  Runner.run_sync(a, x)\n`],
    ["nested blocks", Array.from({ length: 600 }, (_, n) => `${" ".repeat(n)}if x:\n`).join("")],
  ])("Python code with many %s is read as far as possible", (_what, text) => {
    const { imported } = code(`from agents import Agent, Runner\na = Agent(name="A")\n${text}`);
    expect(imported?.roles.map(({ name }) => name)).toEqual(["A"]);
  });

  test("a program that names __proto__ doesn't change any prototype", () => {
    code(
      `${head}const state = { __proto__: { polluted: 1 }, constructor: 1 };\nrun(a, "x", { context: { __proto__: { polluted: 1 } } });`,
      "a.ts",
    );
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe("imported workflows on the offline model", () => {
  test.each(["single.ts", "single.py", "handoffs.py"])("an imported %s runs offline", async (name) => {
    const { imported } = read(name);
    expect(blockingProblems(imported)).toEqual([]);
    const { state } = await runOffline(imported);
    expect(state.run).toMatchObject({ final_status: "COMPLETED" });
  });

  test.each([
    [
      "Python",
      [
        {
          path: "app/main.py",
          text: `from agents import Runner
from app.team.writers import writer
async def main(topic: str):
    draft = await Runner.run(writer, topic)
    return draft.final_output
`,
        },
        {
          path: "app/team/writers.py",
          text: 'from agents import Agent\n\nwriter = Agent(name="Writer", instructions="Write.")\n',
        },
        { path: "app/setup.py", text: 'print("Nothing of agents")' },
      ],
    ],
    [
      "TypeScript",
      [
        {
          path: "src/main.ts",
          text: `import { run } from "@openai/agents";
import { writer } from "./team/writers.js";
async function main(topic: string) {
  const draft = await run(writer, topic);
  return draft.finalOutput;
}
`,
        },
        {
          path: "src/team/writers.ts",
          text: 'import { Agent } from "@openai/agents";\n\nexport const writer = new Agent({ name: "Writer", instructions: "Write." });\n',
        },
        { path: "src/setup.ts", text: 'console.log("Nothing of agents");' },
      ],
    ],
  ])(
    "%s files that import each other are a single program, each with its own lines",
    async (_language, files) => {
      const { imported, findings } = readImport(files);
      expect(short(imported!.graph!).edges).toEqual(["start -> writer", "writer -> end"]);
      expect(imported!.name).toBe("main");
      expect(
        findings.filter(({ level }) => level !== "info").map(({ level, file, line }) => [level, file, line]),
      ).toEqual([
        ["kept", files[1]!.path, 3],
        ["dropped", files[0]!.path, 3],
        ["dropped", undefined, undefined],
      ]);
      const { state } = await runOffline(imported!);
      expect(state.run).toMatchObject({ final_status: "COMPLETED" });
    },
  );
});
