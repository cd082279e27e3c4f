import { describe, expect, test } from "vitest";
import { z } from "zod";
import { findBuiltinRole } from "@/server/domain/agent/builtin-roles";
import { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import { readWorkflow, writeWorkflow } from "@/server/domain/graph/document/document";
import { draw } from "@/server/domain/testing/drawing";
import { succeeded, ToolOutput } from "@/server/domain/tool/tool";
import { readRoles } from "@/server/interop/role-files";
import { toRun } from "@/server/operations/runs/run-view";
import { fakeModels, newStage } from "@/server/runner/testing";
import { defineTool, type ToolScope } from "@/server/tools/define";
import { ToolsRegistry } from "@/server/tools/registry";
import { agent, call, calls, crewGraph, newScriptedStage, of, role, runCrew, tool } from "./stage";

// The promises of the reference "openhands-role-based-agents" (README.md of this folder), in its order.

describe("Core components", () => {
  test("the RoleDefinition example in YAML is read unchanged", () => {
    const { roles, findings } = readRoles(`
- name: PythonDeveloper
  description: Writes, tests, and debugs Python code.
  goals: ["Implement features as per specification", "Ensure code quality"]
  responsibilities: ["Write Python functions/classes", "Write unit tests", "Debug code"]
  tools: ["file_write", "python_interpreter", "code_linter"]
`);
    expect(findings.filter(({ level }) => level === "error")).toEqual([]);
    expect(roles).toMatchObject([
      {
        name: "PythonDeveloper",
        goals: ["Implement features as per specification", "Ensure code quality"],
        responsibilities: ["Write Python functions/classes", "Write unit tests", "Debug code"],
        tools: expect.arrayContaining(["file_write"]) as string[],
      },
    ]);
  });

  test("AgentConfig fills in its defaults", () => {
    const config = AgentConfig.parse({ agent_id: "planner_alpha", role_name: "SoftwarePlanner" });
    expect(config).toMatchObject({ allow_delegation: false, max_iterations: 10 });
    expect(config.llm_config).toBeUndefined();
    expect(config.backstory).toBeUndefined();
  });

  test("TaskResult has tokens and cost of every task and node, and an unknown price is null", async () => {
    const prices = [0.5, null, null];
    const models = fakeModels(() => "done");
    const { complete } = models;
    models.complete = async (request, io) => ({
      ...(await complete(request, io)),
      cost_usd: prices.shift() ?? null,
    });
    const graph = crewGraph(
      { agents: [agent("ann")] },
      { tasks: ["a", "b", "c"].map((task_id) => ({ task_id, description: task_id, required_role: "ann" })) },
    );
    const { state } = await newStage({ models }).run(graph, { roles: [role("ann")] });
    const view = toRun({} as Parameters<typeof toRun>[0], 1, state, null);
    expect(view.tasks?.map(({ status, tokens_used, cost_usd }) => [status, tokens_used, cost_usd])).toEqual([
      ["completed", 15, 0.5],
      ["completed", 15, null],
      ["completed", 15, null],
    ]);
    expect(view).toMatchObject({ cost_usd: 0.5, unknown_cost_calls: 2 });
    expect(view.nodes.crew).toMatchObject({ tokens_used: 45, cost_usd: 0.5, unknown_cost_calls: 2 });
    expect(view.nodes.start).toMatchObject({ tokens_used: 0, cost_usd: 0 });
    const unknown = { ...state, totals: { ...state.totals, cost_usd: 0 } };
    expect(toRun({} as Parameters<typeof toRun>[0], 1, unknown, null).cost_usd).toBeNull();
  });

  test("the project of a TaskContext reaches every agent and survives export and import", async () => {
    const graph = crewGraph(
      { agents: [agent("ann"), agent("ben")] },
      { tasks: ["ann", "ben"].map((name) => ({ task_id: name, description: name, required_role: name })) },
    );
    graph.project_context = {
      project_id: "example_project",
      project_name: "CLI Tool Example",
      description: "A tool that copies files.",
      constraints: ["No network", ""],
      conventions: ["Plain words"],
    };
    const read = readWorkflow(writeWorkflow(graph, { flavour: "troupe" }));
    expect([read.graph?.project_context, read.findings]).toEqual([graph.project_context, []]);
    const { run, models } = newScriptedStage([{ text: "one" }, { text: "two" }]);
    await run(graph, { roles: [role("ann"), role("ben")] });
    expect(models.calls).toHaveLength(2);
    for (const { messages } of models.calls)
      expect(messages[0]!.content).toContain(
        `The project you work on: CLI Tool Example
A tool that copies files.
Constraints of the project:
- No network
Conventions of the project:
- Plain words`,
      );
  });

  test("TaskContext passes the task, the goal and earlier results to the agent", async () => {
    const { models } = await runCrew(
      [{ text: "the facts" }, { text: "the text" }],
      { agents: [agent("finder"), { ...agent("author"), backstory: "You were a journalist." }] },
      {
        plan: {
          tasks: [
            { task_id: "facts", description: "find facts", required_role: "finder" },
            { task_id: "text", description: "write", required_role: "author", dependencies: ["facts"] },
          ],
        },
      },
    );
    const [system, user] = models.calls[1]!.messages.map(({ content }) => content);
    expect(system).toContain("You were a journalist.");
    expect(user).toMatch(/<task id="[0-9a-f]{12}">\nwrite\n<\/task>/);
    expect(user).toContain("<goal>the goal</goal>");
    expect(user).toContain('<results>\n<result task="facts">the facts</result>\n</results>');
  });

  test("an agent whose input_schema is not satisfied does not start", async () => {
    const needs = { type: "object", properties: { order: { type: "string" } }, required: ["order"] };
    const graph = draw("start > ask > end", {
      ask: {
        node_type: "agent_task",
        output_keys: ["answer"],
        config: { required_role: "Clerk", task_description_template: "look it up" },
        input_keys: ["order"],
      },
    });
    const clerk = RoleDefinition.parse({ name: "Clerk", input_schema: needs });
    const given = await newScriptedStage([{ text: "sent" }]).run(graph, {
      input: { order: "A 7" },
      roles: [clerk],
    });
    expect(given.state.state.answer).toBe("sent");
    const { state } = await newScriptedStage([]).run(graph, { input: { order: 7 }, roles: [clerk] });
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "INPUT_MISSING" });
    expect(state.run.error?.message).toMatch(/Clerk is missing inputs: .*order/);
  });

  test("llm_config of an agent overrides the default", async () => {
    const { models } = await runCrew(
      [{ text: "x" }],
      { agents: [{ ...agent("a"), llm_config: { model: "special", temperature: 0.1 } }] },
      {
        plan: { tasks: [{ task_id: "t", description: "do it", required_role: "a" }] },
      },
    );
    expect(models.calls[0]!.llm_config).toMatchObject({ model: "special", temperature: 0.1 });
  });

  test("TaskResult keeps status, output, tokens and cost of each task", async () => {
    const { events, state } = await runCrew(
      [{ text: "made" }],
      { agents: [agent("a")] },
      {
        plan: { tasks: [{ task_id: "t", description: "do it", required_role: "a" }] },
      },
    );
    const plan = Object.values(state.plans)[0]!;
    const { usage, cost_usd } = of(events, "agent_finished")[0]!;
    expect(plan.tasks[0]).toMatchObject({
      task_id: "t",
      status: "completed",
      output: "made",
      tokens_used: usage.input_tokens + usage.output_tokens,
      cost_usd,
    });
    expect(plan.tasks[0]!.tokens_used).toBeGreaterThan(0);
  });

  test("TaskResult includes the usage of delegates and the reason for a failure", async () => {
    const { state } = await runCrew(
      [
        calls(call("delegate_task", { coworker: "b", task: "help" })),
        { text: "helped" },
        { text: "made" },
        { refusal: "no" },
      ],
      {
        agents: [agent("a", { allow_delegation: true }), agent("b")],
        on_task_failure: "continue_independent",
      },
      {
        plan: {
          tasks: [
            { task_id: "t", description: "do it", required_role: "a" },
            { task_id: "u", description: "do more", required_role: "b" },
          ],
        },
      },
    );
    const [made, failed] = Object.values(state.plans)[0]!.tasks;
    const { input_tokens, output_tokens } = state.totals.usage;
    expect(made!.tokens_used! + failed!.tokens_used!).toBe(input_tokens + output_tokens);
    expect(failed).toMatchObject({
      status: "failed",
      error_message: expect.stringContaining("refused") as string,
    });
  });
});

describe("Working with tools", () => {
  const scope: ToolScope = { signal: new AbortController().signal } as ToolScope;
  // The document's example template, as it would be written here.
  const example = defineTool({
    name: "my_custom_tool",
    description: "It processes a string and an optional integer.",
    input: z.object({ my_param: z.string(), optional_param: z.number().int().default(0) }),
    source: "custom",
    risk: "LOW",
    read_only: true,
    execute: ({ my_param, optional_param }) => {
      if (my_param === "break") throw new Error("it broke");
      return `Successfully processed: ${my_param.toUpperCase()} with optional value ${optional_param}`;
    },
  });

  test("ToolInterface has a name, a description and an input schema", () => {
    expect(example.spec).toMatchObject({
      name: "my_custom_tool",
      description: "It processes a string and an optional integer.",
      input_schema: { type: "object", required: ["my_param"] },
    });
  });

  test("ToolOutput succeeds with a 2xx status and fails with an error", () => {
    expect(succeeded(ToolOutput.parse({ output: "x", status_code: 200 }))).toBe(true);
    expect(succeeded(ToolOutput.parse({ error: "x", status_code: 500 }))).toBe(false);
  });

  test("ToolsRegistry registers, returns and unregisters tools", () => {
    const registry = new ToolsRegistry();
    registry.register(example);
    expect(registry.get("my_custom_tool")).toBe(example);
    expect(() => registry.register(example)).toThrow(/already/);
    registry.unregister("my_custom_tool");
    expect(registry.get("my_custom_tool")).toBeUndefined();
  });

  test("ToolsRegistry.invoke returns 200, 400, 404 or 500 and never throws", async () => {
    const registry = new ToolsRegistry();
    registry.register(example);
    expect(await registry.invoke("my_custom_tool", { my_param: "hello" }, scope)).toEqual({
      output: "Successfully processed: HELLO with optional value 0",
      status_code: 200,
    });
    expect(await registry.invoke("my_custom_tool", { my_param: 7 }, scope)).toMatchObject({
      status_code: 400,
      error: expect.stringContaining("my_param") as string,
    });
    expect(await registry.invoke("other", {}, scope)).toMatchObject({ status_code: 404 });
    const broken = await registry.invoke("my_custom_tool", { my_param: "break" }, scope);
    expect(broken).toEqual({ status_code: 500, error: "my_custom_tool failed: it broke" });
  });

  test("RoleDefinition.tools limits access even if an agent asks for more", async () => {
    const { events, tools } = await runCrew(
      [calls(call("mine", { text: "a" }), call("theirs", { text: "b" })), { text: "done" }],
      { agents: [{ ...agent("a"), tools: ["theirs"] } as never] },
      {
        roles: [role("a", ["mine"])],
        tools: [tool("mine"), tool("theirs")],
        plan: { tasks: [{ task_id: "t", description: "use theirs", required_role: "a" }] },
      },
    );
    expect(tools.calls).toEqual(['a mine {"text":"a"}']);
    expect(of(events, "tool_call_refused")).toMatchObject([{ tool_name: "theirs", status_code: 403 }]);
  });

  test("an agent receives a tool's error and can continue without the tool", async () => {
    const { models, state } = await runCrew(
      [calls(call("mine", { text: "a" })), { text: "without the tool" }],
      { agents: [agent("a")] },
      {
        roles: [role("a", ["mine"])],
        tools: [
          tool("mine", {
            execute: () => {
              throw new Error("down");
            },
          }),
        ],
        plan: { tasks: [{ task_id: "t", description: "do it", required_role: "a" }] },
      },
    );
    expect(models.calls[1]!.messages.at(-1)!.content).toBe("mine (500): mine failed: down");
    expect(state.state.result).toBe("without the tool");
  });
});

describe("Workflow overview", () => {
  const plan = {
    user_instruction: "Create a CLI tool that reads a file, and QA the output.",
    parsed_intent: { goal: "Create a CLI tool with file I/O and QA" },
    tasks: [
      { task_id: "task_1", description: "Plan the CLI tool features", required_role: "SoftwarePlanner" },
      {
        task_id: "task_2",
        description: "Implement the file reading part",
        required_role: "PythonDeveloper",
        dependencies: ["task_1"],
      },
      {
        task_id: "task_3",
        description: "QA the output",
        required_role: "QualityAssuranceAgent",
        raw_instruction: JSON.stringify({ content_to_qa: "output_from_task_2", qa_criteria: "valid text" }),
        dependencies: ["task_2"],
      },
    ],
  };
  const team = [
    { agent_id: "planner_alpha", role_name: "SoftwarePlanner" },
    { agent_id: "developer_beta", role_name: "PythonDeveloper" },
    { agent_id: "qa_gamma", role_name: "QualityAssuranceAgent" },
  ];

  test("a planner's answer is repaired when read, and an inconsistent plan is sent back", async () => {
    const tasks = (dependency: string) => [
      {
        task_id: "find",
        description: "find",
        required_role: "Finder",
        dependencies: [],
        expected_output: "facts",
      },
      {
        task_id: "tell",
        description: "tell",
        required_role: "Finder",
        dependencies: [dependency],
        expected_output: "text",
      },
    ];
    const fenced = (value: object) =>
      `Here it is:\n\`\`\`json\n${JSON.stringify(value).slice(0, -1)},}\n\`\`\``;
    const { models, state } = await runCrew(
      [
        { text: fenced({ tasks: tasks("nothing") }) },
        { text: fenced({ tasks: tasks("find") }) },
        { text: "facts" },
        { text: "told" },
      ],
      { agents: [agent("SoftwarePlanner"), agent("Finder")] },
    );
    expect(models.calls[1]!.messages.at(-1)!.content).toContain('Task "tell" waits for "nothing"');
    expect(Object.values(state.plans)[0]!.tasks.map(({ status }) => status)).toEqual([
      "completed",
      "completed",
    ]);
    expect(state.state.result).toBe("told");
  });

  test("tasks run in order on the agents of their roles, and the plan records their results", async () => {
    const { events, state } = await runCrew(
      [{ text: "1" }, { text: "2" }, { text: "3" }],
      { agents: team },
      { plan },
    );
    expect(
      of(events, "task_status_changed").flatMap(({ to, assigned_agent }) =>
        to === "in_progress" ? [assigned_agent] : [],
      ),
    ).toEqual(["planner_alpha", "developer_beta", "qa_gamma"]);
    expect(Object.values(state.plans)[0]).toMatchObject({
      parsed_intent: plan.parsed_intent,
      tasks: [
        { status: "completed", output: "1" },
        { status: "completed", output: "2" },
        { status: "completed", output: "3", raw_instruction: plan.tasks[2]!.raw_instruction },
      ],
      overall_status: "completed",
    });
  });

  test("a task gets its raw instruction with referenced outputs filled in", async () => {
    const { models } = await runCrew(
      [{ text: "1" }, { text: "the code" }, { text: "3" }],
      { agents: team },
      { plan },
    );
    const asked = models.calls[2]!.messages.at(-1)!.content;
    expect(asked).toContain("<content_to_qa>the code</content_to_qa>");
    expect(asked).toContain("<qa_criteria>valid text</qa_criteria>");
  });

  test("a raw instruction that is not JSON is passed on unchanged", async () => {
    const tasks = [
      {
        task_id: "t",
        description: "check",
        required_role: "SoftwarePlanner",
        raw_instruction: "Look {twice}.",
      },
    ];
    const { models } = await runCrew([{ text: "1" }], { agents: team }, { plan: { tasks } });
    expect(models.calls[0]!.messages.at(-1)!.content).toContain(
      "<raw_instruction>Look {twice}.</raw_instruction>",
    );
  });

  test("a task without a role or with an unknown role fails", async () => {
    for (const wrong of [{}, { required_role: "Astronaut" }]) {
      const { state } = await runCrew(
        [],
        { agents: team },
        {
          plan: { tasks: [{ task_id: "t", description: "fly", ...wrong }] },
        },
      );
      expect(Object.values(state.plans)[0]).toMatchObject({
        overall_status: "failed",
        tasks: [
          {
            status: "failed",
            error_message: expect.stringContaining("The crew has: SoftwarePlanner") as string,
          },
        ],
      });
      expect(state.run.final_status).toBe("ERROR");
    }
  });

  test("a failed task stops the plan, and later tasks do not run", async () => {
    const { state, models } = await runCrew([{ text: "1" }, { refusal: "no" }], { agents: team }, { plan });
    expect(state.run.final_status).toBe("ERROR");
    const left = Object.values(state.plans)[0]!;
    expect(left.overall_status).toBe("failed");
    expect(left.tasks.slice(0, 2).map(({ status }) => status)).toEqual(["completed", "failed"]);
    expect(left.tasks[2]!.metadata.started_at).toBeUndefined();
    models.assertComplete();
  });
});

describe("Agent roles with procedures", () => {
  test("developer, researcher and QA roles follow the documented steps", () => {
    const steps = (name: string) =>
      findBuiltinRole(name)!.responsibilities.flatMap((line) => /^Step \d, (\w+)/.exec(line)?.slice(1) ?? []);
    expect(steps("Developer")).toHaveLength(5);
    expect(steps("Researcher")).toHaveLength(4);
    const { required } = findBuiltinRole("QualityReviewer")!.output_schema!;
    expect(required).toEqual(expect.arrayContaining(["assessment", "issues", "suggestions", "confidence"]));
  });

  test("QA returns an assessment, issues, suggestions and confidence as JSON with its verdict", async () => {
    const answer = {
      verdict: "revise",
      issues: ["It is empty"],
      summary: "Not yet.",
      assessment: "Valid text: no, there is none.",
      suggestions: [],
      confidence: 0.9,
    };
    const { summary: _short, ...partial } = answer;
    const { state, models } = await runCrew(
      [{ json: partial }, { json: answer }],
      { agents: [{ agent_id: "qa_gamma", role_name: "QualityReviewer" }] },
      {
        roles: [findBuiltinRole("QualityReviewer")!],
        plan: {
          tasks: [
            {
              task_id: "qa",
              description: "QA the generated file.",
              required_role: "QualityReviewer",
              raw_instruction: JSON.stringify({ content_to_qa: "", qa_criteria: "Valid text." }),
            },
          ],
        },
      },
    );
    expect(state.state.result).toEqual(answer);
    // What lacks a key goes back to it.
    expect(models.calls).toHaveLength(2);
  });

  test("a new role needs no code, only a definition with tools and an output schema", async () => {
    const custom = RoleDefinition.parse({
      name: "MyCustomAgentWithTools",
      tools: ["my_tool"],
      output_schema: {
        type: "object",
        properties: { llm_summary: { type: "string" }, confidence: { type: "number" } },
        required: ["llm_summary", "confidence"],
      },
    });
    const { run, models } = newScriptedStage(
      [calls(call("my_tool", { text: "x" })), { json: { llm_summary: "seen", confidence: 0.5 } }],
      [tool("my_tool")],
    );
    const graph = draw("start > work > end", {
      work: {
        node_type: "agent_task",
        output_keys: ["llm_summary", "confidence"],
        config: { required_role: custom.name, task_description_template: "do it" },
      },
    });
    const { state } = await run(graph, { roles: [custom] });
    expect(models.calls[1]!.messages.at(-1)!.content).toBe("my_tool (200): my_tool of x");
    expect(state.state).toMatchObject({ llm_summary: "seen", confidence: 0.5 });
  });
});

describe("Implemented future enhancements", () => {
  test("load balancing assigns two tasks of one role to two agents", async () => {
    const { events } = await runCrew(
      [{ text: "1" }, { text: "2" }],
      {
        process: "parallel",
        agents: [
          { agent_id: "one", role_name: "Developer" },
          { agent_id: "two", role_name: "Developer" },
        ],
      },
      {
        plan: {
          tasks: ["a", "b"].map((task_id) => ({ task_id, description: task_id, required_role: "Developer" })),
        },
      },
    );
    const to = of(events, "task_status_changed").flatMap(({ to: now, assigned_agent }) =>
      now === "in_progress" ? [assigned_agent] : [],
    );
    expect(to).toEqual(["one", "two"]);
  });
});
