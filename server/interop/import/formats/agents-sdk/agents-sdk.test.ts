import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { rolePrompt } from "@/server/domain/agent/prompt";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { readImport } from "../../road";
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

describe("what Agent Builder exports", () => {
  test("one agent is one step, with its instructions as they stand and its tools wanted", () => {
    const { imported, graph, findings } = read("single.ts");
    expect(imported.name).toBe("Garden advice");
    expect(short(graph)).toEqual({
      nodes: ["gardener: agent_task", "end: end", "start: start"],
      edges: ["gardener -> end", "start -> gardener"],
    });
    expect(imported.roles.map((role) => rolePrompt(role))).toEqual([
      "You help people with their garden.\n\nWrite {{plant}} names in Latin, too. It costs ${5}.",
    ]);
    expect(imported.tools).toEqual([{ name: "web_search", ours: "web_search", by: ["Gardener"] }]);
    expect(findings.filter(({ level }) => level === "changed").map(({ line }) => line)).toEqual([11]);
  });

  test.each(["single", "branches", "loop"])("%s is the same in both languages", (name) => {
    const [typescript, python] = [read(`${name}.ts`), read(`${name}.py`)];
    const plain = ({ nodes, edges, global_state_schema }: WorkflowGraph) =>
      snake({
        edges,
        state: global_state_schema,
        nodes: Object.values(nodes).filter(({ node_type }) => node_type !== "note"),
      });
    const numbers = (value: unknown) =>
      JSON.parse(JSON.stringify(value).replaceAll('"limit": 3', "")) as unknown;
    expect(numbers(plain(python.graph))).toEqual(numbers(plain(typescript.graph)));
    expect(snake(python.imported.tools)).toEqual(snake(typescript.imported.tools));
    expect(python.imported.roles).toEqual(typescript.imported.roles);
  });

  test("a classification decides by its value, and an approval is asked of a person by a form", () => {
    const { imported, graph, findings } = read("branches.ts");
    expect(graph.nodes.decide?.config).toMatchObject({
      conditions: [
        { label: "return_item", when: 'state.category == "return_item"' },
        { label: "cancel plan", when: 'state.category == "cancel plan"' },
      ],
      default_label: "otherwise",
    });
    expect(graph.nodes.classify).toMatchObject({
      output_keys: ["category"],
      config: {
        output_schema: {
          properties: {
            category: { type: "string", enum: ["return_item", "cancel plan", "get_information"] },
          },
        },
        llm_config: { temperature: 0 },
      },
    });
    expect(short(graph).edges).toEqual([
      "classify -> decide",
      "decide -> returnAgent (return_item)",
      "returnAgent -> approval",
      "approval -> decide_2",
      "decide_2 -> end (approve)",
      "decide_2 -> end_2 (reject)",
      "decide -> retentionAgent (cancel plan)",
      "retentionAgent -> end_3",
      "decide -> informationAgent (otherwise)",
      "informationAgent -> end_4",
      "start -> classify",
    ]);
    expect(graph.nodes.end?.input_mapping).toEqual({ message: '"Your return is on the way."' });
    expect(graph.nodes.approval).toMatchObject({
      node_type: "user_input",
      name: "Ask a person: Does this work for you?",
      config: {
        title: "Does this work for you?",
        schema: { properties: { approved: { type: "boolean" } }, required: ["approved"] },
      },
      output_keys: ["approved"],
    });
    expect(findings.filter(({ level }) => level === "placeholder")).toEqual([]);
    expect(blockingProblems(imported)).toEqual([]);
  });

  test("guardrails and searches are steps to fill, and instructions read values of the run", () => {
    const { graph, imported, findings } = read("guarded.ts");
    expect(findings.filter(({ level }) => level === "placeholder").map(({ node_id }) => node_id)).toEqual([
      "guardrails",
      "work_out_filesearchResult",
    ]);
    expect(graph.nodes.guardrails?.name).toBe("Check: Jailbreak, Moderation");
    expect(graph.nodes.decide?.config).toMatchObject({ conditions: [{ when: "state.guardrails_tripped" }] });
    expect(graph.nodes.find).toMatchObject({
      output_keys: ["url", "summary", "score"],
      config: {
        task_description_template: "{{input_as_text}}\n\nHits: {{filesearchResult}}",
        output_schema: {
          required: ["url", "summary"],
          properties: { url: { description: "Where it stands" } },
        },
      },
    });
    expect(graph.nodes.agent).toMatchObject({
      input_keys: ["url", "summary", "score"],
      config: {
        required_role: "Agent 2",
        task_description_template:
          'From this page: {{url}} comes a summary: {{summary}}\nTell it to who asked "{{input_as_text}}".\n\n{{input_as_text}}',
      },
    });
    expect(imported.tools).toEqual([{ name: "statistics", by: ["Agent"] }]);
    expect(JSON.stringify(graph)).not.toContain("OPENAI_API_KEY");
  });

  test("a while is a router with an edge back and a limit; what agents said in one round is known in the next", () => {
    const { graph } = read("loop.ts");
    expect(graph.nodes.decide).toMatchObject({
      max_iterations: 25,
      config: { conditions: [{ label: "again", when: "(!(state.approved) && state.rounds < state.limit)" }] },
    });
    expect(graph.global_state_schema?.properties).toMatchObject({
      rounds: { default: 0 },
      limit: { default: 3 },
    });
    expect(graph.nodes.writer?.optional_input_keys).toContain("writerResult");
    expect(graph.nodes.end?.input_mapping).toEqual({
      story: "state.story",
      rounds: "state.rounds",
      title: '"Story for " + state.input_as_text',
    });
  });
});

describe("what people write with the SDK", () => {
  test("handoffs, also those added later, make a crew that hands over; a chat loop is one message", () => {
    const { graph, findings } = read("handoffs.py");
    expect(graph.nodes.triage).toMatchObject({
      node_type: "crew_task",
      config: {
        plan_description_template: "{{text}}",
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
      input_schema: { properties: { text: { title: "Enter your message:" } } },
    });
    expect(findings.filter(({ level }) => level === "dropped").map(({ message }) => message)).toEqual([
      expect.stringContaining('The check "no_homework"'),
      expect.stringContaining('There is no tool "seat_of"'),
    ]);
  });

  test("agents as tools make a crew that is led, and what runs together is drawn so", () => {
    const { graph } = read("tools.ts");
    expect(graph.nodes.orchestrator).toMatchObject({
      config: { crew: { process: "hierarchical", manager: { agent_id: "orchestrator" } } },
    });
    expect(short(graph).edges).toEqual([
      "spanish -> orchestrator",
      "french -> orchestrator",
      "orchestrator -> end",
      "start -> spanish",
      "start -> french",
    ]);
  });

  test("a condition that is no plain comparison is left open, with its code in a note, and keeps a run from beginning", () => {
    const { imported, findings } = code(
      `from agents import Agent, Runner
a = Agent(name="A", instructions="x")
b = Agent(name="B", instructions="y")
async def run(question: str):
    result = await Runner.run(a, question)
    if re.search("yes", result.final_output):
        result = await Runner.run(b, result.final_output)
    return result.final_output
`,
    );
    const graph = imported?.graph;
    expect(graph?.nodes.decide?.config).toMatchObject({ conditions: [{ when: "" }] });
    expect(findings.filter(({ level }) => level === "placeholder")).toMatchObject([
      { line: 6, node_id: "decide" },
    ]);
    expect(
      Object.values(graph?.nodes ?? {})
        .map(({ config }) => JSON.stringify(config))
        .join(),
    ).toContain("re.search");
    expect(new Set(imported && blockingProblems(imported).map(({ at }) => at.id))).toEqual(
      new Set(["decide"]),
    );
  });

  test("not binds before and, and before or", () => {
    const condition = (test: string) =>
      code(`from agents import Agent, Runner
a = Agent(name="A")
async def run_workflow(workflow_input: WorkflowInput):
  state = {"p": True, "q": False, "r": 1}
  if ${test}:
    await Runner.run(a, "x")
`).imported?.graph?.nodes.decide?.config;
    expect(condition('not state["p"] or state["q"]')).toMatchObject({
      conditions: [{ when: "(!(state.p) || state.q)" }],
    });
    expect(condition('state["p"] and not state["q"] or state["r"] != -1')).toMatchObject({
      conditions: [{ when: "((state.p && !(state.q)) || state.r != -1)" }],
    });
    expect(condition('not (state["p"] or state["q"])')).toMatchObject({
      conditions: [{ when: "!((state.p || state.q))" }],
    });
    // Both halves of a comparison chain would be lost if it were read from the left.
    expect(condition('0 < state["r"] < 3')).toMatchObject({ conditions: [{ when: "" }] });
  });

  test("functions that run agents are drawn where they are called", () => {
    const { imported } = code(
      `import { Agent, run } from "@openai/agents";
const a = new Agent({ name: "A", instructions: "a" });
const b = new Agent({ name: "B", instructions: "b" });
async function ask(agent, text) {
  const answer = await run(agent, \`Please: \${text}\`);
  return answer.finalOutput;
}
async function main(topic) {
  const first = await ask(a, topic);
  const second = await ask(b, first);
  console.log(second);
}
main("cats");
`,
      "main.ts",
    );
    const steps = Object.values(imported?.graph?.nodes ?? {}).filter(
      ({ node_type }) => node_type === "agent_task",
    );
    expect(
      steps.map(({ config }) => (config as { task_description_template: string }).task_description_template),
    ).toEqual(["Please: cats", "Please: {{answer}}"]);
  });

  test("code in the fences of a text is read, with the lines of the text", () => {
    const { imported, findings } = code(
      `# How it works\n\n\`\`\`python\nfrom agents import Agent, Runner\na = Agent(name="A", instructions="x")\nRunner.run_sync(a, "hi")\n\`\`\`\n\nThat's (all) { of it.\n`,
      "spec.md",
    );
    expect(imported?.graph?.nodes.a?.config).toMatchObject({ task_description_template: "hi" });
    expect(findings.map(({ level, line }) => [level, line])).toEqual([["kept", 5]]);
  });

  test("tools that people approve, streams and what the program needs itself leave no steps", () => {
    const { imported, findings } = code(`import os
from agents import Agent, Runner
a = Agent(name="A", instructions="x")
async def main():
    if not os.environ.get("OPENAI_API_KEY"):
        raise RuntimeError("no key")
    result = Runner.run_streamed(a, "hi")
    async for event in result.stream_events():
        print(event)
    while result.interruptions:
        result = await Runner.run(a, result.to_state())
    print(result.final_output)
asyncio.run(main())
`);
    expect(Object.keys(imported?.graph?.nodes ?? {})).toEqual(["a", "end", "start"]);
    expect(findings.filter(({ level }) => level === "dropped").map(({ line }) => line)).toEqual([10]);
  });

  test("a program that stops by itself after an answer ends there, by a router", () => {
    const { imported } = code(`import sys
from agents import Agent, Runner
from pydantic import BaseModel
class Check(BaseModel):
    good: bool
if not KEY:
    sys.exit("no key")
judge = Agent(name="Judge", output_type=Check)
writer = Agent(name="Writer")
async def main():
    check = await Runner.run(judge, "Judge this.")
    if not check.final_output.good:
        print("Not good.")
        exit(0)
    if check.final_output.good == "never":
        sys.exit(2)
    await Runner.run(writer, "Write it.")
asyncio.run(main())
`);
    const graph = imported?.graph ?? expect.fail();
    expect(short(graph)).toEqual({
      nodes: [
        "judge: agent_task",
        "decide: conditional_router",
        "end: end",
        "decide_2: conditional_router",
        "end_2: end",
        "writer: agent_task",
        "end_3: end",
        "start: start",
      ],
      edges: expect.arrayContaining([
        "judge -> decide",
        "decide -> end (not check.final_output.good)",
        "decide -> decide_2 (otherwise)",
        "decide_2 -> end_2 (never)",
        "decide_2 -> writer (otherwise)",
      ]) as unknown,
    });
    expect(graph.nodes.end_2).toMatchObject({ config: { status: "ERROR" } });
    expect(graph.nodes.decide?.config).toMatchObject({ conditions: [{ when: "!(state.good)" }] });
  });

  test("what an agent is made with and has no place here is said: instructions that decide, prompts kept elsewhere, models made by code", () => {
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
      /"tool_use_behavior" of A[\s\S]*model of A is made by code[\s\S]*instructions of A are written by code[\s\S]*prompt of B is kept at OpenAI[\s\S]*"hooks" of B/,
    );
    const graph = imported?.graph ?? expect.fail();
    expect(JSON.stringify(graph)).toContain("Only haikus.");
    expect(graph.nodes.a?.config).toMatchObject({
      task_description_template: "(image) https://x.org/a.png",
    });
  });

  test("what a loop counts is no constant behind it, neither in a function nor while an answer streams", () => {
    for (const loop of ["for item in result.new_items:", "async for event in result.stream_events():"]) {
      const { imported } = code(`from agents import Agent, Runner
a = Agent(name="A")
async def main():
    result = Runner.run_streamed(a, "hi")
    count = 0
    ${loop}
        if item.type == "call":
            count += 1
    if count == 0:
        raise RuntimeError("no call")
    print(result.final_output)
asyncio.run(main())
`);
      const whole = imported ?? expect.fail();
      expect(Object.keys(whole.graph?.nodes ?? {}).filter((id) => id.startsWith("end"))).toHaveLength(2);
      expect(blockingProblems(whole).length).toBeGreaterThan(0);
    }
  });

  test("a mark of the byte order is no fault of the code", () => {
    const { findings } = code(
      '\uFEFFfrom agents import Agent, Runner\na = Agent(name="A")\nRunner.run_sync(a, "hi")\n',
    );
    expect(findings.map(({ level }) => level)).toEqual(["kept"]);
  });

  test("one of two values is that value, not whether there is one", () => {
    const { imported } = code(`from agents import Agent, Runner
a = Agent(name="A")
title = input("Title? ") or "untitled"
Runner.run_sync(a, title)
`);
    const sets = Object.values(imported?.graph?.nodes ?? {}).flatMap(({ node_type, config }) =>
      node_type === "transform" ? [config] : [],
    );
    expect(sets).toEqual([{ set: { title_2: 'state.title != "" ? state.title : "untitled"' } }]);
  });

  test("agents without anything that runs them are roles and agents", () => {
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
  ])("a tool that waits for a person makes its role ask, and a finding says so: %s", (name, text) => {
    const { imported, findings } = code(text, name);
    expect(imported?.roles.map(({ confirmation }) => confirmation)).toEqual([
      { kind: "tools", tools: ["delete_user"] },
    ]);
    expect(findings.filter(({ message }) => message.includes("approve")).map(({ level }) => level)).toEqual([
      "changed",
    ]);
  });

  test("an agent that is asked as a tool and waits for a person is named", () => {
    const { findings } = code(`from agents import Agent, Runner
b = Agent(name="B")
a = Agent(name="A", tools=[b.as_tool("ask_b", "Asks B.", needs_approval=True)])
Runner.run_sync(a, "hi")
`);
    expect(findings.filter(({ message }) => message.includes("approve"))).toHaveLength(1);
  });

  test("a model of the file is asked for only where somebody chooses so", () => {
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
    ["length", `${head}// ${"a".repeat(2_000_000)}`, "longer than 1 MiB"],
  ])("of endless %s is refused in words", (_what, text, said) => {
    const { imported, findings } = code(text, "a.ts");
    expect(imported).toBeNull();
    expect(findings.filter(({ level }) => level === "error")[0]?.message).toContain(said);
  });

  test.each([
    ["sums", `${head}const x = ${"1+".repeat(8_000)}1;\nrun(a, x);`],
    ["members", `${head}const x = a${".b".repeat(8_000)};\nrun(a, x);`],
    ["elses", `${head}${"if (b) { run(a, b) } else ".repeat(300)}{}`],
    ["ifs", `${head}${"if (b) ".repeat(4_000)}run(a, b)`],
    [
      "names that name themselves",
      `${head}const x = y, y = x; const z = { ...z };\nrun(a, [x, z].join(""));`,
    ],
  ])("of long %s is read as far as it goes", (_what, text) => {
    const { imported, findings } = code(text, "a.ts");
    expect(findings.length).toBeGreaterThan(0);
    expect(imported?.roles.map(({ name }) => name)).toEqual(["A"]);
  });

  test.each([
    ["nots", `if ${"not ".repeat(5_000)}x:\n  Runner.run_sync(a, x)\n`],
    ["blocks", Array.from({ length: 600 }, (_, n) => `${" ".repeat(n)}if x:\n`).join("")],
  ])("in Python, of long %s is read as far as it goes", (_what, text) => {
    const { imported } = code(`from agents import Agent, Runner\na = Agent(name="A")\n${text}`);
    expect(imported?.roles.map(({ name }) => name)).toEqual(["A"]);
  });

  test("functions that call each other in a circle end", () => {
    const { findings } = code(
      `${head}async function p(x) { await run(a, x); await q(x); }\nasync function q(x) { await p(x); }\np("hi");`,
      "a.ts",
    );
    expect(findings.some(({ message }) => message.includes("calls itself"))).toBe(true);
  });

  test("a program that names __proto__ changes no prototype", () => {
    code(
      `${head}const state = { __proto__: { polluted: 1 }, constructor: 1 };\nrun(a, "x", { context: { __proto__: { polluted: 1 } } });`,
      "a.ts",
    );
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe("a whole workflow runs on the offline model", () => {
  test.each(["single.ts", "single.py", "loop.ts", "loop.py", "handoffs.py", "tools.ts"])(
    "%s",
    async (name) => {
      const { imported } = read(name);
      expect(blockingProblems(imported)).toEqual([]);
      const { state } = await runOffline(imported);
      expect(state.run).toMatchObject({ final_status: "COMPLETED" });
    },
  );

  const loops = {
    "a.py": (list: string) => `from agents import Agent, Runner
writer = Agent(name="Writer", instructions="Write one part.")
async def main():
    for part in ${list}:
        text = await Runner.run(writer, f"Write {part}")
`,
    "a.ts": (list: string) => `import { Agent, run } from "@openai/agents";
const writer = new Agent({ name: "Writer", instructions: "Write one part." });
async function main() {
  for (const part of ${list}) {
    const text = await run(writer, \`Write \${part}\`);
  }
}
`,
  };
  test.each(Object.entries(loops))(
    "a list is gone through value by value in %s, an empty one not at all",
    async (name, written) => {
      for (const [list, rounds] of [
        ['["one", "two"]', 2],
        ["[]", 0],
      ] as const) {
        const { imported } = code(written(list), name);
        expect(blockingProblems(imported!)).toEqual([]);
        const { state } = await runOffline(imported!);
        expect([state.run.final_status, state.nodes.writer?.count ?? 0]).toEqual(["COMPLETED", rounds]);
        expect(state.state.part).toEqual(rounds === 0 ? undefined : "two");
      }
    },
  );

  test("what a loop that goes round no time does not write is null at the end", async () => {
    const { imported } = code(
      `from agents import Agent, Runner
writer = Agent(name="Writer", instructions="Write.")
async def main(limit: int):
    state = {"rounds": 0, "limit": 0}
    while state["rounds"] < state["limit"]:
        text = await Runner.run(writer, "Write")
        state["rounds"] = state["rounds"] + 1
    return {"story": text.final_output, "rounds": state["rounds"]}
`,
      "a.py",
    );
    expect(imported!.graph!.nodes.end?.input_mapping).toEqual({
      story: "has(state.text) ? state.text : null",
      rounds: "state.rounds",
    });
    const { state } = await runOffline(imported!);
    expect([state.run.final_status, state.run.output]).toEqual(["COMPLETED", { story: null, rounds: 0 }]);
  });

  test("a list that only code can tell is a step to be filled, before the rounds", () => {
    const { imported } = code(loops["a.py"]("load()"), "a.py");
    expect(short(imported!.graph!).nodes).toEqual([
      "work_out_part_list: agent_task",
      "set_part_place: transform",
      "decide: conditional_router",
      "set_part: transform",
      "writer: agent_task",
      "set_part_place_2: transform",
      "end: end",
      "start: start",
    ]);
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
    "files of %s that import one another are one program, each with its own lines",
    async (_language, files) => {
      const { imported, findings } = readImport(files);
      expect(short(imported!.graph!).edges).toEqual(["writer -> end", "start -> writer"]);
      expect(imported!.name).toBe("main");
      expect(
        findings.filter(({ level }) => level !== "info").map(({ level, file, line }) => [level, file, line]),
      ).toEqual([
        ["kept", files[1]!.path, 3],
        ["dropped", undefined, undefined],
      ]);
      const { state } = await runOffline(imported!);
      expect(state.run).toMatchObject({ final_status: "COMPLETED" });
    },
  );
});
