import { describe, expect, test } from "vitest";
import { type ImportChoices, readImport } from "../pipeline";
import { blockingProblems, runOffline } from "./testing/offline-run";

const read = (value: unknown, path = "a.json", choices?: ImportChoices) =>
  readImport([{ path, text: typeof value === "string" ? value : JSON.stringify(value) }], choices);
const whole = (result: ReturnType<typeof readImport>) =>
  result.imported ?? expect.fail(JSON.stringify(result.findings));
const lines = (result: ReturnType<typeof readImport>) =>
  (whole(result).graph?.edges ?? []).map(
    ({ source_node_id, target_node_id, edge_label }) =>
      `${source_node_id} -> ${target_node_id}${edge_label ? ` (${edge_label})` : ""}`,
  );
const messagesOf = (result: ReturnType<typeof readImport>, level: string) =>
  result.findings.flatMap((finding) => (finding.level === level ? [finding.message] : []));

describe("LangGraph Mermaid diagrams", () => {
  test("Mermaid with subgraphs, escapes and edge labels is read, even in a fence", () => {
    const result = read(
      `# My graph

\`\`\`mermaid
---
config:
  flowchart:
    curve: linear
---
graph TD;
	__start__([<p>__start__</p>]):::first
	plan\\20it(plan it<hr/><small><em>retry = 3</em></small>)
	inner\\3awrite(write)
	inner\\3a__end__(<p>__end__</p>)
	__end__([<p>__end__</p>]):::last
	__start__ --> plan\\20it;
	plan\\20it -. &nbsp;go&nbsp; .-> inner\\3awrite;
	plan\\20it -. &nbsp;stop&nbsp; .-> __end__;
	inner\\3a__end__ --> __end__;
	subgraph inner
	inner\\3awrite --> inner\\3a__end__;
	end
	classDef default fill:#f2f0ff,line-height:1.2
\`\`\`
`,
      "README.md",
    );
    expect(lines(result)).toEqual([
      "start -> plan_it",
      "plan_it -> after_plan_it",
      "after_plan_it -> write (go)",
      "after_plan_it -> end (stop)",
      "write -> end",
    ]);
    expect(result.findings.find(({ node_id }) => node_id === "write")?.line).toBe(12);
  });
});

describe("LangGraph interrupts", () => {
  const GATES = [
    "start -> before_ship",
    "before_ship -> ship (approved)",
    "ship -> after_ship",
    "after_ship -> report (approved)",
    "report -> end",
    "before_ship -> end (rejected)",
    "after_ship -> end (rejected)",
  ];
  const expectGates = (result: ReturnType<typeof readImport>) => {
    expect(lines(result).toSorted()).toEqual(GATES.toSorted());
    for (const id of ["before_ship", "after_ship"])
      expect(whole(result).graph?.nodes[id]?.node_type).toBe("approval_gate");
    expect(messagesOf(result, "changed").filter((message) => message.includes("pauses"))).toHaveLength(2);
    expect(blockingProblems(whole(result)).every(({ at }) => at.id === "ship" || at.id === "report")).toBe(
      true,
    );
  };

  test("a JSON interrupt becomes approval gates before and after the node", () => {
    const node = (id: string, metadata?: object) => ({
      id,
      type: "runnable",
      data: { id: ["langgraph", "RunnableCallable"], name: id },
      ...(metadata ? { metadata } : {}),
    });
    expectGates(
      read({
        nodes: [
          node("__start__"),
          node("ship", { __interrupt: "before,after", retry: 3 }),
          node("report"),
          { id: "__end__" },
        ],
        edges: [
          { source: "__start__", target: "ship" },
          { source: "ship", target: "report" },
          { source: "report", target: "__end__" },
        ],
      }),
    );
  });

  test.each([
    "ship(ship<hr/><small><em>__interrupt = before,after</em></small>)",
    "ship(ship<hr/><small><em>retry = 3\n__interrupt = before,after</em></small>)",
  ])("a Mermaid interrupt becomes approval gates before and after the node: %s", (ship) => {
    expectGates(
      read(
        `graph TD;
	__start__([<p>__start__</p>]):::first
	${ship}
	report(report)
	__end__([<p>__end__</p>]):::last
	__start__ --> ship;
	ship --> report;
	report --> __end__;
`,
        "graph.mmd",
      ),
    );
  });

  test("an interrupt after a node becomes an approval gate before its router", () => {
    const result = read(
      `graph TD;
	__start__ --> ship;
	ship(ship<hr/><small><em>__interrupt = after</em></small>)
	ship -. yes .-> report;
	ship -. no .-> __end__;
	report --> __end__;
`,
      "graph.mmd",
    );
    expect(lines(result)).toEqual([
      "ship -> after_ship",
      "start -> ship",
      "after_ship -> after_ship_2 (approved)",
      "after_ship_2 -> report (yes)",
      "after_ship_2 -> end (no)",
      "report -> end",
      "after_ship -> end (rejected)",
    ]);
  });
});

const model = {
  provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
  component_type: "model",
  config: { model: "gpt-4o", api_key: "sk-abcdefghijklmnopqrstuvwx" },
};
const agent = (name: string, more: object = {}) => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  component_type: "agent",
  version: 1,
  config: {
    name,
    model_client: model,
    description: `Is ${name}.`,
    system_message: `You are {${name}} {{x}}.`,
    ...more,
  },
});
const team = (kind: string, participants: unknown[], more: object = {}) => ({
  provider: `autogen_agentchat.teams.${kind}`,
  component_type: "team",
  version: 1,
  label: `My ${kind}`,
  config: { participants, ...more },
});
const ends = (...conditions: unknown[]) => ({
  provider: "autogen_agentchat.base.OrTerminationCondition",
  component_type: "termination",
  config: { conditions },
});
const mentions = (text: string) => ({
  provider: "autogen_agentchat.conditions.TextMentionTermination",
  component_type: "termination",
  config: { text },
});
const messages = (max_messages: number) => ({
  provider: "autogen_agentchat.conditions.MaxMessageTermination",
  component_type: "termination",
  config: { max_messages },
});
const functionTool = {
  provider: "autogen_core.tools.FunctionTool",
  component_type: "tool",
  config: { source_code: "def add(a, b):\n    return a + b\n", name: "add", description: "Adds" },
};

describe("AutoGen teams", () => {
  test("a round-robin team loops until its text or message limit and runs offline", async () => {
    const result = read(
      team("RoundRobinGroupChat", [agent("writer"), agent("critic")], {
        termination_condition: ends(mentions("APPROVE"), messages(5)),
      }),
    );
    const { graph, roles } = whole(result);
    expect(lines(result)).toEqual([
      "start -> count_rounds",
      "count_rounds -> writer",
      "writer -> critic",
      "critic -> again",
      "again -> count_rounds (again)",
      "again -> end (done)",
    ]);
    expect(graph?.nodes.again?.config).toMatchObject({
      conditions: [
        {
          label: "again",
          when: 'state.round < 2 && !(state.said_by_writer.contains("APPROVE") || state.said_by_critic.contains("APPROVE"))',
        },
      ],
    });
    expect(roles.map(({ system_prompt_template }) => system_prompt_template)).toEqual([
      'You are {writer} {{ "{{" }}x}}.',
      'You are {critic} {{ "{{" }}x}}.',
    ]);
    expect(JSON.stringify(result)).not.toContain("sk-abc");
    expect(blockingProblems(whole(result))).toEqual([]);
    expect((await runOffline(whole(result))).state.run).toMatchObject({ final_status: "COMPLETED" });
  });

  test("a swarm team becomes a swarm crew, and a handoff to the user asks a person", () => {
    const result = read(
      team(
        "Swarm",
        [
          agent("a", { handoffs: ["b", { target: "user", name: "to_user" }] }),
          agent("b", { handoffs: [{ target: "a" }] }),
        ],
        {
          termination_condition: {
            provider: "autogen_agentchat.conditions.HandoffTermination",
            component_type: "termination",
            config: { target: "user" },
          },
        },
      ),
    );
    expect(whole(result).graph?.nodes.My_Swarm?.config).toMatchObject({
      crew: { process: "swarm", entry_agent: "a", agents: [{ handoffs: ["b"] }, { handoffs: ["a"] }] },
    });
    expect(messagesOf(result, "changed")).toEqual(
      expect.arrayContaining([
        expect.stringContaining('A handoff to "user" ended the team'),
        expect.stringContaining('"a" hands off to "user"; here it asks a person with escalate_to_human'),
      ]),
    );
    expect(whole(result).roles[0]?.tools).toEqual(["escalate_to_human"]);
    expect(blockingProblems(whole(result))).toEqual([]);
  });

  test.each(["SelectorGroupChat", "MagenticOneGroupChat"])(
    "%s becomes a managed crew and runs on the offline model",
    async (kind) => {
      const result = read(
        team(kind, [agent("a"), agent("b")], {
          selector_prompt: "Choose of {roles}",
          termination_condition: messages(4),
        }),
      );
      expect(whole(result).graph?.nodes[`My_${kind}`]?.config).toMatchObject({
        crew: { process: "hierarchical", max_rounds: 4 },
      });
      expect(blockingProblems(whole(result))).toEqual([]);
      expect((await runOffline(whole(result))).state.run).toMatchObject({ final_status: "COMPLETED" });
    },
  );

  test("a graph team routes by the text of a message", async () => {
    const nodes = {
      draft: { name: "draft", edges: [{ target: "check", condition: null }], activation: "any" },
      check: {
        name: "check",
        edges: [
          { target: "draft", condition: "REVISE" },
          { target: "send", condition: "APPROVE" },
        ],
        activation: "all",
      },
      send: { name: "send", edges: [], activation: "all" },
    };
    const result = read(
      team("GraphFlow", [agent("draft"), agent("check"), agent("send")], {
        graph: { nodes, default_start_node: "draft" },
      }),
    );
    expect(lines(result)).toEqual([
      "draft -> check",
      "check -> after_check",
      "after_check -> draft (REVISE)",
      "after_check -> send (APPROVE)",
      "after_check -> end (otherwise)",
      "send -> end",
      "start -> draft",
    ]);
    expect(whole(result).graph?.nodes.after_check?.config).toMatchObject({
      conditions: [
        { label: "REVISE", when: 'state.said_by_check.contains("REVISE")' },
        { label: "APPROVE", when: 'state.said_by_check.contains("APPROVE")' },
      ],
    });
    expect(blockingProblems(whole(result))).toEqual([]);
    expect((await runOffline(whole(result))).state.run).toMatchObject({ final_status: "COMPLETED" });
  });

  test("tools are imported by name from both versions, with their code in a note", () => {
    const old = read(agent("a", { tools: [functionTool] }));
    const now = read({
      ...agent("a", {
        workbench: [
          {
            provider: "autogen_core.tools.StaticWorkbench",
            component_type: "workbench",
            config: { tools: [functionTool] },
          },
        ],
      }),
      version: 2,
    });
    for (const result of [old, now]) {
      expect(whole(result).tools).toEqual([{ name: "add", by: ["a"] }]);
      const notes = Object.values(whole(result).graph?.nodes ?? {}).filter(
        ({ node_type }) => node_type === "note",
      );
      expect(JSON.stringify(notes)).toContain("return a + b");
    }
  });

  test("each team of a gallery is offered separately, next to its agents", () => {
    const gallery = {
      id: "g",
      name: "Gallery",
      components: {
        agents: [agent("x")],
        teams: [team("Swarm", [agent("a")]), team("RoundRobinGroupChat", [agent("b"), agent("c")])],
        models: [model],
      },
    };
    const first = read(gallery);
    expect(first.found.map(({ title }) => title)).toEqual([
      "My Swarm",
      "My RoundRobinGroupChat",
      "Agents in Gallery",
    ]);
    expect(first.imported?.roles.map(({ name }) => name)).toEqual(["a"]);
    expect(read(gallery, "a.json", { pick: 2 }).imported?.roles.map(({ name }) => name)).toEqual(["x"]);
  });

  test("AutoGen Studio 0.2 teams and standalone models are rejected by name", () => {
    expect(
      messagesOf(
        read({
          name: "w",
          sender: { type: "userproxy", config: { name: "u", llm_config: false } },
          receiver: { config: { llm_config: {} } },
        }),
        "error",
      )[0],
    ).toMatch(/AutoGen Studio 0\.2.*0\.4/);
    expect(messagesOf(read(model), "error")[0]).toContain(
      "This is an AutoGen model (OpenAIChatCompletionClient)",
    );
  });
});

describe("LangChain", () => {
  const prompt = (template: string, more: object = {}) => ({
    _type: "prompt",
    input_variables: [],
    template,
    template_format: "f-string",
    ...more,
  });
  const lc = (name: string, kwargs: object) => ({
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "prompts", name],
    kwargs,
  });

  test("a prompt without a type is read as plain, alone and in a chain", async () => {
    const bare = {
      input_variables: ["a"],
      output_parser: null,
      template: "Tell of {a}.",
      template_format: "f-string",
    };
    for (const value of [bare, { _type: "self-ask", llm_chain: { _type: "llm_chain", prompt: bare } }]) {
      const whole = read(value).imported ?? expect.fail(JSON.stringify(value));
      expect(JSON.stringify(whole.graph)).toContain("Tell of {{a}}.");
      expect((await runOffline(whole)).state.run.final_status).toBe("COMPLETED");
    }
  });

  test("doubled braces become single, and attribute access in a template stays text", () => {
    const result = read(prompt("{{a}} {b} {b.__class__} {% c %}"));
    expect(whole(result).graph?.nodes.a?.config).toMatchObject({
      task_description_template: '{a} {{b}} {b.__class__} {{ "{%" }} c %}',
    });
    expect(messagesOf(result, "changed")[0]).toContain("{b.__class__}");
  });

  test("chains become steps that each get the previous output", async () => {
    const chain = (template: string, output_key: string) => ({
      _type: "llm_chain",
      prompt: prompt(template),
      llm: { _type: "openai", model_name: "gpt-4" },
      output_key,
    });
    const result = read({
      _type: "sequential_chain",
      chains: [chain("Outline {topic}", "outline"), chain("Write on {topic}: {outline}", "text")],
    });
    expect(lines(result)).toEqual(["start -> Step_1", "Step_1 -> Step_2", "Step_2 -> end"]);
    expect(whole(result).graph?.nodes.Step_2).toMatchObject({
      output_keys: ["text"],
      config: { task_description_template: "Write on {{topic}}: {{outline}}" },
    });
    expect(whole(result).graph?.nodes.start?.output_keys).toEqual(["topic"]);
    expect((await runOffline(whole(result))).state.run).toMatchObject({ final_status: "COMPLETED" });
  });

  test.each([
    ["{title}", "{synopsis}"],
    ["{title}", "Review {title}"],
  ])("in a simple chain, the only variable is the previous answer: %s, %s", async (first, second) => {
    const chain = (template: string) => ({
      _type: "llm_chain",
      prompt: prompt(template),
      llm: { _type: "openai", model_name: "gpt-4" },
      output_key: "text",
    });
    const result = read({
      _type: "simple_sequential_chain",
      chains: [chain(first), chain(second), chain("Shorten {review}")],
      input_key: "input",
      output_key: "output",
    });
    const { nodes } = whole(result).graph ?? expect.fail();
    expect(nodes.start?.output_keys).toEqual(["title"]);
    expect(nodes.Step_2?.config).toMatchObject({
      task_description_template: second.replace(/\{\w+\}/, "{{answer_1}}"),
    });
    expect(nodes.Step_3?.config).toMatchObject({ task_description_template: "Shorten {{answer_2}}" });
    expect(nodes.end?.input_keys).toEqual(nodes.Step_3?.output_keys);
    expect((await runOffline(whole(result))).state.run).toMatchObject({ final_status: "COMPLETED" });
  });

  test("serialized objects are read without being constructed, and secrets are dropped", () => {
    const result = read({
      lc: 1,
      type: "constructor",
      id: ["langchain", "schema", "runnable", "RunnableSequence"],
      kwargs: {
        first: lc("ChatPromptTemplate", {
          messages: [
            lc("SystemMessagePromptTemplate", {
              prompt: lc("PromptTemplate", {
                template: "Be brief.",
                template_format: "f-string",
                input_variables: [],
              }),
            }),
            lc("HumanMessagePromptTemplate", {
              prompt: lc("PromptTemplate", {
                template: "{question}",
                template_format: "f-string",
                input_variables: ["question"],
              }),
            }),
          ],
        }),
        middle: [
          {
            lc: 1,
            type: "constructor",
            id: ["langchain", "chat_models", "openai", "ChatOpenAI"],
            kwargs: {
              model_name: "gpt-4",
              openai_api_key: { lc: 1, type: "secret", id: ["OPENAI_API_KEY"] },
            },
          },
        ],
        last: { lc: 1, type: "constructor", id: ["os", "system"], kwargs: { command: "rm" } },
      },
    });
    expect(lines(result)).toEqual(["start -> a", "a -> end"]);
    expect(whole(result).roles.map(({ system_prompt_template }) => system_prompt_template)).toEqual([
      "Be brief.",
    ]);
    expect(messagesOf(result, "changed")).toEqual([expect.stringContaining("gpt-4")]);
    expect(messagesOf(result, "dropped")).toEqual([expect.stringContaining('"system" was left out')]);
    expect(JSON.stringify(result.imported)).not.toContain("OPENAI_API_KEY");
  });

  test("examples become part of the prompt, and a standalone model is rejected by name", () => {
    const result = read({
      _type: "few_shot",
      prefix: "Opposites:",
      examples: [{ a: "hot", b: "{cold}" }],
      example_prompt: prompt("{a} -> {b}"),
      suffix: "{word} ->",
    });
    expect(whole(result).graph?.nodes.a?.config).toMatchObject({
      task_description_template: "Opposites:\n\nhot -> {cold}\n\n{{word}} ->",
    });
    expect(messagesOf(read({ _type: "openai", model_name: "gpt-4" }), "error")[0]).toContain(
      'LangChain\'s "openai"',
    );
  });
});
