import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { present } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import { findProblems } from "@/server/domain/problems/problems";
import { newModels } from "@/server/llm/models";
import { newOfflineFetch } from "@/server/llm/offline";
import { memoryProviders, offlineProvider } from "@/server/llm/testing";
import { fakeModels, newStage } from "@/server/runner/testing";
import { type ImportChoices, readImport } from "../../pipeline";
import { files } from "../../testing";

const AGENTS = `
reader:
  role: "{topic} Reader"
  goal: Find what matters about {topic}
  backstory: You read fast.
writer:
  role: Writer of letters
  goal: Write well
  backstory: You write plainly.
`;
const TASKS = `
read_task:
  description: >
    Read about {topic}. Answer as {"points": []}
  expected_output: Five points
  agent: reader
write_task:
  description: Write a letter.
  expected_output: A letter about {topic}
  agent: writer
`;
const crew = (agents: string, tasks: string, choices?: ImportChoices) =>
  readImport(files({ "a/config/agents.yaml": agents, "a/config/tasks.yaml": tasks }), choices);
const graphOf = (read: ReturnType<typeof readImport>) =>
  read.imported?.graph ?? expect.fail(JSON.stringify(read.findings));
const linesOf = (read: ReturnType<typeof readImport>) =>
  graphOf(read).edges.map(({ source_node_id, target_node_id, edge_label }) =>
    [source_node_id, target_node_id, ...(edge_label ? [edge_label] : [])].join(" "),
  );
const step = (read: ReturnType<typeof readImport>, id: string) =>
  present(graphOf(read).nodes[id], id) as {
    input_keys: string[];
    optional_input_keys: string[];
    join: unknown;
    config: JsonObject;
  };
const messagesOf = (read: ReturnType<typeof readImport>, level: string) =>
  read.findings.flatMap((finding) => (finding.level === level ? [finding.message] : []));

/** Runs on the offline model. */
const run = (read: ReturnType<typeof readImport>, input: JsonObject) =>
  newStage({
    models: newModels({
      providers: memoryProviders([offlineProvider]),
      offlineFetch: newOfflineFetch({ speed: 0 }),
    }),
  }).run(graphOf(read), { input, roles: [...builtinRoles, ...(read.imported?.roles ?? [])] });

describe("YAML crews", () => {
  test("a YAML crew becomes a chain in which each task gets all earlier results", () => {
    const read = crew(AGENTS, TASKS);
    expect(linesOf(read)).toEqual(["start read_task", "read_task write_task", "write_task end"]);
    expect(step(read, "write_task").input_keys).toEqual(["read_task"]);
    expect(
      read.imported?.roles.map(({ name, goals, description }) => ({ name, goals, description })),
    ).toEqual([
      { name: "Reader", goals: ["Find what matters about {topic}"], description: "You read fast." },
      { name: "Writer of letters", goals: ["Write well"], description: "You write plainly." },
    ]);
  });

  test("a YAML crew runs on the offline model", async () => {
    const { state } = await run(crew(AGENTS, TASKS), { topic: "owls" });
    expect(state.run).toMatchObject({ final_status: "COMPLETED", reason_code: "END_REACHED", warnings: [] });
    expect(Object.keys(state.run.output ?? {})).toEqual(["write_task"]);
  });

  test("a YAML crew imported as a single step runs on the offline model", async () => {
    const read = crew(AGENTS, TASKS, { answers: { shape: "crew" } });
    expect(linesOf(read)).toEqual(["start Config", "Config end"].map((line) => line.replace("Config", "A")));
    const { state } = await run(read, { topic: "owls" });
    expect(state.run).toMatchObject({ final_status: "COMPLETED" });
  });

  test("task text keeps JSON braces, fills in variables, and keeps outer doubled braces", () => {
    const read = crew(AGENTS, TASKS.replace("Write a letter.", "Write {{topic}} and {a-b} and {}."));
    expect(step(read, "read_task").config.task_description_template).toBe(
      'Read about {{topic}}. Answer as {"points": []}',
    );
    expect(step(read, "write_task").config.task_description_template).toBe(
      'Write {{ "{" }}{{topic}}} and {{a_b}} and {}.\n\nExpected output: A letter about {{topic}}',
    );
  });

  test("a task without an agent is asked about and can't run until assigned", () => {
    const read = crew(AGENTS, TASKS.replaceAll(/ {2}agent: .*\n/g, ""));
    expect(read.imported?.choices.map(({ id, value }) => [id, value])).toEqual([
      ["shape", "chain"],
      ["unassigned", "nobody"],
      ["agent:read_task", "as_above"],
      ["agent:write_task", "as_above"],
    ]);
    expect(step(read, "read_task").config.required_role).toBe("");
    const problems = findProblems(graphOf(read), read.imported?.roles ?? []);
    expect(problems.filter(({ severity }) => severity === "error").map(({ at }) => at.id)).toEqual([
      "read_task",
      "write_task",
    ]);
  });

  test("tasks are assigned to the agents that the user chooses", () => {
    const tasks = TASKS.replaceAll(/ {2}agent: .*\n/g, "");
    const roles = (answers: Record<string, string>) => {
      const read = crew(AGENTS, tasks, { answers });
      return ["read_task", "write_task"].map((id) => step(read, id).config.required_role);
    };
    expect(roles({ unassigned: "order" })).toEqual(["Reader", "Writer of letters"]);
    expect(roles({ unassigned: "agent:writer" })).toEqual(["Writer of letters", "Writer of letters"]);
    expect(roles({ unassigned: "order", "agent:read_task": "agent:writer" })).toEqual([
      "Writer of letters",
      "Writer of letters",
    ]);
    expect(roles({ unassigned: "agent:nobody_of_this_name" })).toEqual(["", ""]);
  });

  test("an agent missing from the files is reported for its task", () => {
    const read = crew(AGENTS, TASKS.replace("agent: writer", "agent: poet"));
    expect(messagesOf(read, "placeholder")[0]).toContain('"poet"');
  });

  test("task contexts become inputs, and contexts from later tasks are rejected", () => {
    expect(step(crew(AGENTS, `${TASKS}  context: []\n`), "write_task").input_keys).toEqual([]);
    const read = crew(AGENTS, TASKS.replace("agent: reader", "agent: reader\n  context: [write_task]"));
    expect(read.imported).toBeNull();
    expect(read.findings.find(({ level }) => level === "error")).toMatchObject({
      file: "a/config/tasks.yaml",
      at: "read_task.context",
      message: expect.stringContaining("comes later") as string,
    });
  });

  test("asynchronous tasks become parallel branches", () => {
    const tasks = `${TASKS.replace("agent: reader", "agent: reader\n  async_execution: true")}
more_task:
  description: More
  expected_output: More
  agent: reader
`;
    const first = crew(AGENTS, tasks.replace("agent: writer", "agent: writer\n  async_execution: true"));
    expect(linesOf(first)).toEqual([
      "start read_task",
      "start write_task",
      "read_task more_task",
      "write_task more_task",
      "more_task end",
    ]);
  });

  test("Python references are reported as names and never loaded", () => {
    const read = crew(
      AGENTS,
      TASKS.replace(
        "agent: writer",
        "agent: writer\n  guardrail: {python: os.system}\n  output_pydantic: {python: m.Letter}\n  output_file: /etc/passwd",
      ),
    );
    expect(messagesOf(read, "dropped")).toEqual([
      expect.stringContaining("m.Letter"),
      expect.stringContaining("/etc/passwd"),
      expect.stringContaining("os.system"),
    ]);
  });

  test("agents and tasks may be lists or nested under their own key", () => {
    const read = crew(
      "agents:\n  - name: reader\n    role: Reader\n    goal: Read\n",
      "tasks:\n  read_task:\n    description: Read\n    expected_output: Notes\n    agent: reader\n",
    );
    expect(step(read, "read_task").config.required_role).toBe("Reader");
    expect(read.findings.find(({ level }) => level === "kept")).toMatchObject({ at: "agents.0", line: 2 });
  });

  test("agents without tasks are imported as roles", () => {
    const { imported } = readImport(files({ "": AGENTS }));
    expect(imported).toMatchObject({
      graph: null,
      roles: [{ name: "Reader" }, { name: "Writer of letters" }],
    });
  });

  test("a crew with an unparsable file is rejected with the file name", () => {
    const read = crew(AGENTS, "read_task:\n  description: [");
    expect(read.imported).toBeNull();
    expect(read.findings.find(({ level }) => level === "error")).toMatchObject({
      file: "a/config/tasks.yaml",
    });
  });
});

const AGENT = '{"role": "Reader", "goal": "Read", "backstory": "Fast",}';
const CREW = `{
  // A crew of one
  "name": "Readers",
  "agents": ["reader"],
  "tasks": [
    { "name": "one", "description": "Read {topic}", "expected_output": "Notes", "agent": "reader", },
    { "name": "two", "description": "Sum up", "expected_output": "A line", "agent": "reader" }
  ],
  "inputs": { "topic": "owls" },
}`;
const json = (text: string, more: Record<string, string> = {}) =>
  readImport(files({ "crew.jsonc": text, "agents/reader.jsonc": AGENT, ...more }));

describe("JSON crews", () => {
  test("a JSON crew may have comments and trailing commas, and its inputs become defaults", async () => {
    const read = json(CREW);
    const { state } = await run(read, {});
    expect(state.run).toMatchObject({ final_status: "COMPLETED" });
    expect(state.state.topic).toBe("owls");
  });

  test("a hierarchical crew becomes a single step with its tasks as the goal", async () => {
    const read = json(
      CREW.replace('"inputs"', '"process": "hierarchical", "manager_agent": "boss", "inputs"'),
      {
        "agents/boss.json": AGENT.replace("Reader", "Boss"),
      },
    );
    const { config } = step(read, "Readers");
    expect(config).toMatchObject({
      crew: {
        process: "hierarchical",
        manager: { agent_id: "boss" },
        agents: [{ agent_id: "reader" }, { agent_id: "boss" }],
      },
      plan_description_template:
        "1. Read {{topic}}\nExpected: Notes\nMeant for: reader\n\n2. Sum up\nExpected: A line\nMeant for: reader",
    });
    const { state } = await run(read, {});
    expect(state.run.final_status).toBe("COMPLETED");
  });

  test("a hierarchical crew's goal lists what each task builds on and must satisfy", () => {
    const read = json(
      CREW.replace('"inputs"', '"process": "hierarchical", "inputs"').replace(
        '"name": "two",',
        '"name": "two", "context": ["one"], "guardrail": "One line only",',
      ),
    );
    expect(messagesOf(read, "changed")).toContainEqual(
      expect.stringContaining("the manager is told the rule"),
    );
    expect(step(read, "Readers").config.plan_description_template).toContain(
      "2. Sum up\nExpected: A line\nMeant for: reader\nBuilds on: 1\nIts result must satisfy: One line only",
    );
  });

  test("a task with a Python condition becomes a router without conditions", () => {
    const read = json(
      CREW.replace(
        '"name": "two",',
        '"name": "two", "type": "ConditionalTask", "condition": {"python": "m.should"},',
      ),
    );
    expect(linesOf(read)).toEqual([
      "start one",
      "two_if two run",
      "one two_if",
      "two end",
      "two_if end skip",
    ]);
    const errors = findProblems(graphOf(read), read.imported?.roles ?? []).filter(
      ({ severity }) => severity === "error",
    );
    expect(errors.map(({ at, code }) => [at.id, code])).toEqual([["two_if", "E_ROUTER_NO_CONDITIONS"]]);
    expect(messagesOf(read, "placeholder")[0]).toContain("m.should");
  });

  test("crew files chosen without their folders form a single crew", () => {
    const read = readImport(files({ "reader.jsonc": AGENT, "crew.jsonc": CREW }));
    expect(read.found).toHaveLength(1);
    expect(read.imported).toEqual(json(CREW).imported);
  });

  test("other JSON files next to a crew aren't taken for agents", () => {
    const read = readImport(files({ "reader.json": '{"port": 1}', "crew.jsonc": CREW }));
    expect(read.imported).toBeNull();
    expect(messagesOf(read, "error")).toContainEqual(
      expect.stringContaining("agents/reader.jsonc is missing"),
    );
  });

  test("a crew with a missing agent file is rejected with the file name", () => {
    const read = readImport(files({ "x/crew.jsonc": CREW }));
    expect(read.imported).toBeNull();
    expect(messagesOf(read, "error")).toEqual([expect.stringContaining("agents/reader.jsonc is missing")]);
  });

  test("CrewAI's generated comments are skipped, whatever their length and content", () => {
    const comment = `// "base_url": {"${"long ".repeat(40)}": [[[[,,,,\n/* "more": { */\n`;
    const read = json(comment + CREW, { "agents/reader.jsonc": comment + AGENT });
    expect(messagesOf(read, "error")).toEqual([]);
    expect(read.imported?.roles.map(({ name }) => name)).toContain("Reader");
  });

  test("an unparsable agent file is reported with its parse error", () => {
    const read = json(CREW, { "agents/reader.jsonc": '{"role": ' });
    expect(messagesOf(read, "error")).toEqual([
      expect.stringMatching(
        /is missing: agents\/reader\.jsonc can't be read\. Invalid JSON: syntax error at line 1/,
      ),
    ]);
  });
});

const FLOW = `
schema: crewai.flow/v1
name: Loop
state: {type: dict, default: {topic: owls, rounds: 3}}
methods:
  write:
    start: true
    listen: again
    do: {call: agent, with: {role: Writer, goal: Write, backstory: Calm, input: "Write about \${state.topic} in \${state.rounds + 1} words"}}
  judge:
    listen: write
    router: true
    emit: [again, good]
    do: {call: agent, with: {role: Judge, goal: Say good, backstory: Strict, input: "\${outputs.write.raw}"}}
  shout:
    listen: good
    do: {call: expression, expr: "outputs.write + '!'"}
`;
const flow = (text: string) => readImport(files({ "flow.yaml": text }));
const methods = (text: string) => flow(`schema: crewai.flow/v1\nname: F\nmethods:\n${text}`);
const method = (name: string, more = "") =>
  `  ${name}:\n${more}    do: {call: expression, expr: "'${name}'"}\n`;

describe("flows", () => {
  test("a flow keeps its loop, labels and texts", async () => {
    const read = flow(FLOW);
    expect(linesOf(read).sort()).toEqual(
      [
        "start write",
        "judge_route write again",
        "write judge",
        "judge judge_route",
        "judge_route shout good",
        "shout end",
      ].sort(),
    );
    expect(step(read, "write")).toMatchObject({
      input_mapping: { value: "state.rounds + 1" },
      config: { task_description_template: "Write about {{topic}} in {{value}} words" },
    });
    let judged = 0;
    const models = fakeModels((request) =>
      JSON.stringify(request.messages).includes("You are Judge")
        ? JSON.stringify({ judge: judged++ === 0 ? "again" : "good" })
        : "Owls",
    );
    const { state } = await newStage({ models }).run(graphOf(read), {
      input: {},
      roles: read.imported?.roles ?? [],
    });
    expect(state.run).toMatchObject({ final_status: "COMPLETED", output: { shout: "Owls!" } });
    expect(state.nodes.write?.count).toBe(2);
  });

  test("a flow whose only start waits for a label begins with it and returns to it", async () => {
    const read = flow(FLOW.replace("    start: true\n    listen: again\n", "    start: again\n"));
    expect(linesOf(read)).toEqual(expect.arrayContaining(["start write", "judge_route write again"]));
    let judged = 0;
    const models = fakeModels((request) =>
      JSON.stringify(request.messages).includes("You are Judge")
        ? JSON.stringify({ judge: judged++ < 2 ? "again" : "good" })
        : "Owls",
    );
    const { state } = await newStage({ models }).run(graphOf(read), {
      input: {},
      roles: read.imported?.roles ?? [],
    });
    expect(state.run).toMatchObject({ final_status: "COMPLETED", output: { shout: "Owls!" } });
    expect(state.nodes.write?.count).toBe(3);
  });

  test("only starts without a condition begin where there are both, and a start may wait for several", () => {
    const read = methods(
      [method("a", "    start: true\n"), method("b", "    start: a\n"), method("c", "    listen: b\n")].join(
        "",
      ),
    );
    expect(linesOf(read).filter((line) => line.startsWith("start "))).toEqual(["start a"]);
    const both = methods(
      [
        method("a", "    start: {and: [b, c]}\n"),
        method("b", "    listen: a\n"),
        method("c", "    listen: a\n"),
      ].join(""),
    );
    expect(linesOf(both)).toEqual(expect.arrayContaining(["start a", "a_when a", "b a_when", "c a_when"]));
    expect(step(both, "a").join).not.toMatchObject({ n: 2 });
    expect(step(both, "a_when").join).toMatchObject({ n: 2 });
  });

  test("and/or listeners of a flow become joins, even when nested", () => {
    const both = methods(
      [
        method("a", "    start: true\n"),
        method("b", "    start: true\n"),
        method("c", "    start: true\n"),
        method("all", "    listen: {and: [a, b]}\n"),
        method("any", "    listen: {or: [a, b]}\n"),
        method("mixed", "    listen: {and: [a, {or: [b, c]}]}\n"),
      ].join(""),
    );
    expect(step(both, "all").join).toEqual({ n: 2, on_shortfall: "skip" });
    expect(step(both, "any").join).toBe("any");
    expect(step(both, "mixed").join).toEqual({ n: 2, on_shortfall: "skip" });
    expect(linesOf(both)).toEqual(
      expect.arrayContaining(["b mixed_when", "c mixed_when", "a mixed", "mixed_when mixed"]),
    );
    expect(step(both, "mixed_when").join).toBe("any");
  });

  test("a flow with merging branches runs to its end", async () => {
    const read = methods(
      [
        method("a", "    start: true\n"),
        method("b", "    start: true\n"),
        method("all", "    listen: {and: [a, b]}\n"),
      ].join(""),
    );
    const { state } = await run(read, {});
    expect(state.run).toMatchObject({ final_status: "COMPLETED", output: { all: "all" } });
  });

  test("a flow's code becomes a note next to an empty step, which can't run", () => {
    const read = methods(`  go:\n    start: true\n    do: {call: script, code: "import os"}\n`);
    expect(messagesOf(read, "placeholder")).toHaveLength(1);
    const notes = Object.values(graphOf(read).nodes).filter(({ node_type }) => node_type === "note");
    expect(JSON.stringify(notes)).toContain("import os");
    expect(findProblems(graphOf(read), []).some(({ severity }) => severity === "error")).toBe(true);
  });

  test("human feedback with outcomes becomes an approval gate with those answers", () => {
    const read = methods(
      `  go:\n    start: true\n    human_feedback: {message: Good?, emit: [yes_, no_]}\n    do: {call: expression, expr: "1"}\n${method("fine", "    listen: yes_\n")}`,
    );
    expect(linesOf(read)).toEqual([
      "go go_feedback",
      "start go",
      "go_feedback fine yes_",
      "fine end",
      "go_feedback end no_",
    ]);
    expect(step(read, "go_feedback")).toMatchObject({
      node_type: "approval_gate",
      config: { title: "Good?", options: ["yes_", "no_"] },
    });
  });

  test("human feedback without outcomes becomes a form", () => {
    const read = methods(
      `  go:\n    start: true\n    human_feedback: {message: What do you think?}\n    do: {call: expression, expr: "1"}\n`,
    );
    expect(step(read, "go_feedback")).toMatchObject({
      node_type: "user_input",
      config: { title: "What do you think?", schema: { required: ["go_feedback"] } },
      output_keys: ["go_feedback"],
    });
  });

  test("a flow reads its referenced crew only from the imported files", () => {
    const text = `schema: crewai.flow/v1\nname: F\nmethods:\n  go:\n    start: true\n    do: {call: crew, from_declaration: crews/one, inputs: {topic: "\${state.subject}"}}\n`;
    const inline = CREW.replace('["reader"]', `{"reader": ${AGENT}}`);
    const read = readImport(files({ "flow.yaml": text, "crews/one/crew.jsonc": inline }));
    expect(step(read, "go")).toMatchObject({
      input_mapping: { topic: "state.subject" },
      config: { plan: { tasks: [{ task_id: "one" }, { task_id: "two", dependencies: ["one"] }] } },
    });
    const alone = flow(text);
    expect(messagesOf(alone, "placeholder")).toHaveLength(1);
    expect(messagesOf(alone, "changed")[0]).toContain("crews/one");
  });

  test("a flow that listens to itself or has no start is rejected", () => {
    expect(messagesOf(methods(method("a", "    start: true\n    listen: a\n")), "error")[0]).toContain(
      "listens to itself",
    );
    expect(messagesOf(methods(method("a", "    listen: b\n")), "error")[0]).toContain(
      "This flow has no start method",
    );
  });
});

test("an agent in CrewAI's repository isn't fetched, and its steps become placeholders", () => {
  const away = '{"from_repository": "analyst"}';
  const inCrew = json(CREW.replace('["reader"]', `{"reader": ${away}}`));
  expect(messagesOf(inCrew, "dropped")[0]).toContain("wasn't fetched");
  expect(messagesOf(inCrew, "placeholder")).toHaveLength(2);
  const inFlow = methods(
    `  go:\n    start: true\n    do: {call: agent, with: {from_repository: analyst, input: Hello}}\n`,
  );
  expect(messagesOf(inFlow, "placeholder")).toHaveLength(1);
});

test("files without a folder are named after their agents, and current_year becomes a short input", () => {
  const dated = TASKS.replace("Write a letter.", "Write a letter for {current_year}.");
  const read = readImport(files({ "agents.yaml": AGENTS, "tasks.yaml": dated }));
  expect(read.imported?.name).toBe("Reader and writer");
  const start = Object.values(graphOf(read).nodes).find(({ node_type }) => node_type === "start");
  expect(start?.config).toMatchObject({
    input_schema: { properties: { topic: { type: "string" }, current_year: { maxLength: 120 } } },
  });
});

test("a method whose action names no call becomes an empty node that says so", () => {
  const { findings } = methods('  go:\n    start: true\n    do: {with: {expr: "1"}}\n');
  expect(findings.map(({ message }) => message).join("\n")).toContain('Its "do" has no "call"');
});
