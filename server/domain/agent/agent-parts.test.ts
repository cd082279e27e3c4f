import { describe, expect, test } from "vitest";
import { Findings } from "@/server/domain/base/lenient-reader";
import { containing } from "@/server/domain/testing/containing";
import { breakpointsError, CheckedBreakpoint } from "./breakpoint/breakpoint-check";
import { findGuardrailFunction, guardrailFunctions } from "./guardrail-functions";
import { toLimits, withLimits } from "./limits-form";
import { RunConfig } from "./outcome";
import { ProjectContext, projectPrompt } from "./project";
import { answerPrompt, systemPrompt, taskPrompt } from "./prompt";
import { readRoleList } from "./read-roles";
import { RoleDefinition } from "./role";
import { describeUnchecked, guardrailNote, uncheckedOfRole, uncheckedOfState } from "./unchecked";

describe("the project in a prompt", () => {
  const prompt = (more: object) => projectPrompt(ProjectContext.parse(more));
  test.each([
    [{ project_id: "p", constraints: [" "], conventions: [""] }, ""],
    [{ description: "A tool." }, "The project you work on:\nA tool."],
    [
      { project_name: "Troupe", constraints: ["small", " "], conventions: ["calm", "plain"] },
      "The project you work on: Troupe\nConstraints of the project:\n- small\nConventions of the project:\n- calm\n- plain",
    ],
  ])("the project context %j renders as %j", (more, text) => {
    expect(prompt(more)).toBe(text);
  });
  test("a missing project context renders as an empty string", () => {
    expect(projectPrompt(undefined)).toBe("");
  });
});

describe("roles in a file", () => {
  const read = (source: unknown) => {
    const findings = new Findings();
    const roles = readRoleList(source, "roles", findings);
    return [
      roles.map(({ name, goals, responsibilities, tools }) => [name, goals, responsibilities, tools]),
      findings.list.map(({ level, at }) => `${level} ${at}`),
    ];
  };
  const writer = ["Writer", [], [], []];
  test.each<[string, unknown, unknown[]]>([
    ["null", null, [[], []]],
    ["a string", "Writer", [[], ["error roles"]]],
    ["a list", [{ name: "Writer" }, { name: "Reader" }], [[writer, ["Reader", [], [], []]], []]],
    ["a name twice", [{ name: "Writer" }, { name: "Writer", tools: "x" }], [[writer], ["dropped roles.1"]]],
    [
      "an object keyed by name",
      { Writer: { goals: "g" }, Reader: null, x: { name: "Own" } },
      [
        [
          ["Writer", ["g"], [], []],
          ["Reader", [], [], []],
          ["Own", [], [], []],
        ],
        [],
      ],
    ],
    [
      "a single role",
      { name: "Writer", goals: " ", responsibilities: " all " },
      [[["Writer", [], ["all"], []]], []],
    ],
    [
      "a role with the fields role and goal",
      { role: "Writer", goal: " know " },
      [[["Writer", ["know"], [], []]], []],
    ],
    [
      "a role with the fields role and goals",
      { role: "Writer", goals: ["a", "b"] },
      [[["Writer", ["a", "b"], [], []]], []],
    ],
    [
      "tools as comma-separated text",
      [{ name: "Writer", tools: "look, , shout," }],
      [[["Writer", [], [], ["look", "shout"]]], []],
    ],
  ])("reading roles from %s", (_what, source, expected) => {
    expect(read(source)).toEqual(expected);
  });
  test("an object under the key role is read as a role with that name", () => {
    expect(read({ role: { goals: ["a"] } })[0]).toEqual([["role", ["a"], [], []]]);
  });
});

describe("a built-in guardrail", () => {
  const check = (name: string, value: object) => findGuardrailFunction(name)?.check(value as never);
  test("a built-in guardrail is found only by its exact name", () => {
    expect(findGuardrailFunction("toString")).toBeUndefined();
    for (const { name } of guardrailFunctions()) expect(findGuardrailFunction(name)?.name).toBe(name);
  });
  test.each<[string, object, string | null]>([
    ["not_empty", { a: 0, b: false, c: "x", d: [0], e: { f: null } }, null],
    ["not_empty", { a: " ", b: null, c: [], d: {}, e: "x" }, "Fill in these values: a, b, c, d."],
    ["no_placeholders", { a: "done", n: 3, z: null }, null],
    ["no_placeholders", { a: ["fine", { b: "TODO: this" }] }, '"TODO" is a placeholder. Replace it.'],
    ["no_placeholders", { a: "Dear [your name here]," }, '"[your name here]" is a placeholder. Replace it.'],
    ["no_secrets", { a: "nothing" }, null],
    ["no_secrets", { a: "x", b: `sk-${"a".repeat(16)}` }, "The value contains a secret key."],
    ["no_personal_data", { a: "write to me" }, null],
    ["no_personal_data", { a: "ann@a.example" }, "The value contains an email address or card number."],
    ["valid_json", { a: "[1]", b: 3 }, null],
    ["valid_json", { a: "[1]", b: "{" }, "The value isn't valid JSON. Return only JSON."],
    ["names_sources", { a: "none", b: "see https://a.example" }, null],
    ["names_sources", { a: "see https://" }, "The value cites no source. Add the URL of each source."],
  ])("the guardrail %s given %j returns %s", (name, value, error) => {
    expect(check(name, value)).toEqual(containing(error));
  });
});

describe("run limits in the form", () => {
  const config = RunConfig.parse({ max_active_ms: 90_000, max_steps: 7, budget: { max_cost_usd: 2 } });
  test("run limits show their current values, with durations in minutes", () => {
    expect(toLimits(config)).toEqual({
      max_cost_usd: 2,
      max_total_tokens: null,
      minutes: 1.5,
      max_steps: 7,
      max_loop_iterations: config.max_loop_iterations,
      max_global_iterations: config.max_global_iterations,
      asks: false,
    });
    expect(toLimits({ ...config, on_limit: "ask" }).asks).toBe(true);
    expect(toLimits({ ...config, on_limit: "stop" }).asks).toBe(false);
  });
  test("submitting unchanged run limits keeps the config", () => {
    expect(withLimits(config, toLimits(config))).toEqual({
      ...config,
      budget: { ...config.budget, max_total_tokens: null },
    });
  });
  test("cleared run limits keep their values, except that budgets become unlimited", () => {
    const emptied = {
      max_cost_usd: null,
      max_total_tokens: null,
      minutes: null,
      max_steps: null,
      max_loop_iterations: null,
      max_global_iterations: null,
      asks: false,
    };
    expect(withLimits(config, emptied)).toEqual({
      ...config,
      budget: { ...config.budget, max_cost_usd: null, max_total_tokens: null },
    });
  });
  test("entered run limits replace the previous values", () => {
    const entered = {
      max_cost_usd: 0,
      max_total_tokens: 5,
      minutes: 0.1,
      max_steps: 1,
      max_loop_iterations: 2,
      max_global_iterations: 3,
      asks: true,
    };
    expect(withLimits(config, entered)).toEqual({
      ...config,
      on_limit: "ask",
      max_active_ms: 6000,
      max_steps: 1,
      max_loop_iterations: 2,
      max_global_iterations: 3,
      budget: { ...config.budget, max_cost_usd: 0, max_total_tokens: 5 },
    });
    expect(withLimits({ ...config, on_limit: "ask" }, { ...entered, asks: false }).on_limit).toBe("stop");
  });
});

describe("unchecked constraints", () => {
  const odd = (count: number) => ({
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`k${at}`, { contentEncoding: "odd" }]),
    ),
  });
  test("unchecked schema keywords are listed with their location, at most three", () => {
    const [first, ...others] = describeUnchecked(odd(1));
    expect([first?.startsWith("At properties.k0"), others]).toEqual([true, []]);
    expect(describeUnchecked({ contentEncoding: "odd" })[0]).toMatch(/^[^a-z]/);
    expect(describeUnchecked(odd(3)).length).toBe(3);
    expect(describeUnchecked(odd(4)).length).toBe(4);
    expect(describeUnchecked(odd(5))[3]).toBe("2 more aren't checked.");
    expect(describeUnchecked({ type: "string" })).toEqual([]);
  });
  test("a guardrail note reports only unchecked schema keywords and slow patterns", () => {
    const note = (kind: "regex" | "json_schema" | "expression", spec: string) =>
      guardrailNote({ kind, spec });
    expect(note("regex", "^a+$")).toBeNull();
    expect(note("regex", "(")).toBeNull();
    expect(note("expression", "(")).toBeNull();
    expect(note("json_schema", "no JSON")).toBeNull();
    expect(note("json_schema", '{"type":"string"}')).toBeNull();
    expect(note("regex", "(?=a)b")).toMatch(
      /^Runs in the sandbox, one pattern at a time, with a timeout of 1 s: /,
    );
    expect(note("json_schema", JSON.stringify(odd(1)))).toBe(describeUnchecked(odd(1)).join(" "));
  });
  test("unchecked keywords of a role are listed with their field", () => {
    const guardrails = [
      { name: "fine", kind: "regex", spec: "a" },
      { name: "slow", kind: "regex", spec: "(?=a)b" },
    ];
    const places = (more: object) =>
      uncheckedOfRole(RoleDefinition.parse({ name: "Writer", ...more })).map(({ at }) => at);
    expect(places({})).toEqual([]);
    expect(places({ input_schema: odd(1), output_schema: odd(2), guardrails })).toEqual([
      "input_schema",
      "output_schema",
      "output_schema",
      "guardrails.1.spec",
    ]);
  });
  test("constraints on the state as a whole are reported as unchecked", () => {
    expect(
      uncheckedOfState({
        type: "object",
        properties: {},
        required: ["a"],
        minProperties: 1,
        title: "S",
        "x-own": 1,
      }),
    ).toEqual(["required", "minProperties"]);
  });
});

test("a breakpoint condition must parse and must not exceed the length limit", () => {
  const at = (condition?: string) => ({
    on: "node_start" as const,
    ...(condition === undefined ? {} : { condition }),
  });
  expect(CheckedBreakpoint.safeParse(at()).success).toBe(true);
  expect(CheckedBreakpoint.safeParse(at("state.a > 1")).success).toBe(true);
  expect(CheckedBreakpoint.safeParse(at("state.a >")).success).toBe(false);
  expect([breakpointsError([]), breakpointsError([at(), at("true")])]).toEqual([null, null]);
  expect(breakpointsError([at("true"), at("1 +")])).toMatch(/^Can't read the breakpoint condition "1 \+": /);
  const long = `true || ${"x".repeat(2000)}`;
  expect(breakpointsError([at(long)])).toBe(
    `Can't read the breakpoint condition "${long}": Use at most 2000 characters.`,
  );
});

test("the answer prompt lists each schema key with its type and whether it can be null", () => {
  const schema = {
    required: ["a"],
    properties: {
      a: { type: "string", description: "The text" },
      b: { enum: ["x", 1] },
      c: { anyOf: [{ type: "number" }, { properties: { d: {} } }] },
      e: {},
    },
  };
  expect(answerPrompt({ schema })).toBe(
    'Answer with one JSON object that has exactly these keys:\n- "a": string. The text\n- "b": one of "x", 1 or null\n- "c": number or {"d": any} or null\n- "e": any or null',
  );
  const nested = { properties: { f: { type: "array", items: { properties: { g: { type: "string" } } } } } };
  expect([answerPrompt({ schema: nested }), answerPrompt({ schema: nested }, { isBefore4: true })]).toEqual([
    expect.stringContaining('- "f": list of {"g": string}'),
    expect.stringMatching(/- "f": array$/),
  ]);
  const { required: _none, ...open } = schema;
  expect(answerPrompt({ schema: open })).not.toContain("null");
  expect([answerPrompt({}), answerPrompt({ key: "k" })]).toEqual([
    "Reply with the text itself, without a label before it or comments around it.",
    'Reply with the text itself (stored as "k"), without a label before it or comments around it.',
  ]);
});

test("the system prompt includes the run's start date if it's known", () => {
  const role = RoleDefinition.parse({ name: "Clerk" });
  expect(systemPrompt(role, { date: "2026-02-01" })).toMatch(/\nThis run started on 2026-02-01 \(UTC\)\.$/);
  expect(systemPrompt(role)).not.toContain("This run started");
});

describe("a role's knowledge setting", () => {
  const lastLine = (more: object, setting: Parameters<typeof systemPrompt>[1] = {}) =>
    systemPrompt(RoleDefinition.parse({ name: "Tutor", ...more }), setting)
      .split("\n")
      .findLast((line) => !line.startsWith("Answer in the language"));
  test.each<[string, object, string]>([
    [
      "has no knowledge setting",
      {},
      "Rely first on the material provided. Beyond that, you may use general knowledge; say when you do.",
    ],
    ["allows only the material", { knowledge: "material" }, "Use only the material provided."],
    [
      "allows general knowledge",
      { knowledge: "general" },
      "Besides the material provided, you may use general knowledge; say when you do.",
    ],
  ])("the system prompt names the allowed sources if the role %s", (_what, more, sentence) => {
    const missing = " If something essential is missing, say exactly what.";
    expect(lastLine(more)).toBe(`${sentence}${missing}`);
    expect(lastLine(more, { hasTools: true })).toBe(
      `${sentence.replace("the material provided", "the material provided and your tools")}${missing}`,
    );
    expect(lastLine(more, { isBefore3: true })).toBe(`Work only with the information given.${missing}`);
  });
});

test("a task prompt includes all known parts in order and omits missing parts", () => {
  const fence = (name: string, value: unknown, attributes?: object) =>
    `${name}=${JSON.stringify(value)}${attributes ? JSON.stringify(attributes) : ""}`;
  const about = {
    task: "Go",
    from: "Ann",
    goal: "",
    expected_output: "text",
    inputs: { a: 1 },
    memory: "M",
    earlier: { t: "r" },
    status: "S",
    answer: "A",
    write: { fence, named: fence },
  };
  const partsOf = (prompt: string) => prompt.split("\n\n").map((part) => part.replace(/\s+/g, " "));
  expect(partsOf(taskPrompt({ id: "0123456789ab", ...about }))).toEqual([
    "Task ID: 0123456789ab",
    'goal=""',
    expect.stringContaining("a=1"),
    "M",
    '<task id="0123456789ab"> Ann asks you: Go </task>',
    expect.stringContaining("text"),
    expect.stringContaining('result="r"{"task":"t"}'),
    "S",
    "A",
  ]);
  expect(partsOf(taskPrompt(about))).toEqual([
    'goal=""',
    expect.stringContaining("a=1"),
    expect.stringContaining("Ann asks you: Go"),
    expect.stringContaining("text"),
    expect.stringContaining('result="r"{"task":"t"}'),
    "M",
    "S",
    "A",
  ]);
  const bare = taskPrompt({ task: "Go", inputs: {} });
  expect([bare.includes("\n\n"), bare.replace(/\s+/g, "")]).toEqual([false, "<task>Go</task>"]);
});
