import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { Knowledge, RoleDefinition } from "@/server/domain/agent/role";
import { readRoles, writeRoles } from "./role-files";

const names = (text: string) => readRoles(text).roles.map(({ name }) => name);
const summaryOf = (text: string) =>
  readRoles(text).findings.map(({ level, at, message }) => `${level} ${at}: ${message}`);

/** As the reference documents write it. */
const reference = `
- name: PythonDeveloper
  description: Writes, tests, and debugs Python code.
  goals: ["Implement features as per specification", "Ensure code quality"]
  responsibilities: ["Write Python functions/classes", "Write unit tests", "Debug code"]
  tools: ["file_write", "python_interpreter", "code_linter"]
`;

describe("reading roles", () => {
  test("the reference role is read", () => {
    expect(readRoles(reference)).toEqual({
      roles: [
        RoleDefinition.parse({
          name: "PythonDeveloper",
          description: "Writes, tests, and debugs Python code.",
          goals: ["Implement features as per specification", "Ensure code quality"],
          responsibilities: ["Write Python functions/classes", "Write unit tests", "Debug code"],
          tools: ["file_write", "python_interpreter", "code_linter"],
        }),
      ],
      findings: [],
    });
  });

  test("roles are read from lists, single roles and maps, with or without a roles key", () => {
    for (const text of [
      "- name: A\n- name: B",
      "roles:\n  - name: A\n  - name: B",
      "A:\n  description: x\nB:",
      "roles:\n  A: {}\n  B: {goals: x}",
      '[{"name": "A"}, {"name": "B"}]',
      '{"roles": {"A": {}, "B": {"name": "B"}}}',
      "```yaml\n- name: A\n- name: B\n```",
    ])
      expect([text, names(text)]).toEqual([text, ["A", "B"]]);
    expect(names("name: A\ngoals: [x]")).toEqual(["A"]);
    expect(names('{"name": "A"}')).toEqual(["A"]);
  });

  test("text becomes a list, comma-separated tools are split, and CrewAI keys are accepted", () => {
    expect(
      readRoles("role: Chef\ngoal: Cook well\ntools: knife, pan\nbackstory: Trained in Lyon").roles,
    ).toEqual([RoleDefinition.parse({ name: "Chef", goals: ["Cook well"], tools: ["knife", "pan"] })]);
    expect(summaryOf("role: Chef\ngoal: Cook well\nbackstory: Trained in Lyon")).toEqual([
      'dropped backstory: Unknown field "backstory" was left out.',
    ]);
  });

  test("invalid entries are reported and skipped", () => {
    const text = "- name: A\n  goals: [x, 7]\n  mood: good\n- name: A\n- description: nameless";
    const { roles, findings } = readRoles(text);
    expect(roles).toEqual([RoleDefinition.parse({ name: "A", goals: ["x"] })]);
    expect(findings.map(({ level, at }) => `${level} ${at}`)).toEqual([
      "dropped 0.goals.1",
      "dropped 0.mood",
      "dropped 1",
      "dropped 2",
    ]);
  });

  test("a file without roles is rejected with a message", () => {
    expect(summaryOf("")).toEqual(["error : The file is empty."]);
    expect(summaryOf("just words")).toEqual([
      "error : Not a valid list of roles. Expected a list, or an object that maps names to roles.",
    ]);
    expect(summaryOf('{"nodes": {}, "edges": []}')).toEqual([
      "error : This file has a workflow, not roles. Import it on the Workflows page.",
    ]);
    expect(summaryOf("roles: []")).toEqual(["error : This file has no roles."]);
    expect(summaryOf("a: [1\nb: 2")[0]).toMatch(/^error : Invalid YAML: line 2/);
    expect(summaryOf("x".repeat(256 * 1024 + 1))).toEqual(["error : The file exceeds 256 KiB."]);
  });

  test("hostile role files are rejected, and nothing of them is kept", () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghi"
      .split("")
      .map(
        (key, i) => `${key}: &${key} [${"*abcdefgh"[0]}${"abcdefgh"[i]},*${"abcdefgh"[i]},*${"abcdefgh"[i]}]`,
      )
      .join("\n")}`;
    expect(summaryOf(bomb)).toEqual(["error : The file uses aliases (*name); write the values out."]);
    expect(summaryOf("[".repeat(100_000))[0]).toMatch(/^error : .*nested/);
    expect(summaryOf("- ".repeat(60_000))[0]).toMatch(/^error : /);
    for (const level of ["? ", "- ? ", "- &a ", "- !t ", "[? ", ": - "])
      expect(summaryOf(`${level.repeat(40_000)}x`)[0]).toMatch(/^error : .*nested/);
    expect(summaryOf(`- name: A\n  goals:${"\n    - - - - - - -".repeat(900)}`)[0]).toMatch(
      /^(dropped|error)/,
    );
    expect(summaryOf(Array.from({ length: 600 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"))[0]).toMatch(
      /^error : /,
    );
    expect(summaryOf(Array.from({ length: 15_000 }, (_, i) => `k${i}: {}`).join("\n"))).toEqual([
      "error : The file has more than 12000 lines and list items.",
    ]);
    expect(summaryOf(`a: [${"x,".repeat(100_000)}]`)[0]).toMatch(/^error : .*more than 12000/);
    expect(summaryOf("- name: A\n".repeat(501))).toEqual([
      "error : The file has 501 roles; at most 500 can be imported at once.",
    ]);
    expect(names("- name: A\n  __proto__: {polluted: 1}\n  constructor: {x: 1}")).toEqual(["A"]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(
      readRoles("- name: !!js/function 'function () {}'").roles.map(({ name }) => typeof name),
    ).not.toContain("function");
  });
});

describe("writing roles", () => {
  test("built-in roles survive a round trip in YAML and JSON", () => {
    const sorted = [...builtinRoles].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const format of ["yaml", "json"] as const)
      expect(readRoles(writeRoles(builtinRoles, format))).toEqual({ roles: sorted, findings: [] });
  });

  test("any role survives a round trip", () => {
    const text = fc.string({
      maxLength: 60,
      unit: fc.constantFrom(
        "a",
        "B",
        " ",
        "\n",
        "-",
        ":",
        "#",
        "'",
        '"',
        "é",
        "{",
        "]",
        "*",
        "&",
        "!",
        "0",
        "~",
        "\t",
        "|",
        "%",
        "…",
        "😀",
      ),
    });
    const name = fc
      .tuple(fc.constantFrom("Role", "no", "007", "null", "- x", "é: y"), text)
      .map(([a, b]) => (a + b).trim().slice(0, 80).trim());
    const role = fc.record({
      name,
      description: text,
      goals: fc.array(text, { maxLength: 3 }),
      tools: fc.array(text, { maxLength: 2 }),
      output_schema: fc.option(fc.dictionary(fc.constantFrom("type", "x", "1"), text), { nil: undefined }),
      knowledge: fc.option(fc.constantFrom(...Knowledge.options), { nil: undefined }),
      color: fc.option(
        text.map((value) => value.slice(0, 40)),
        { nil: undefined },
      ),
    });
    fc.assert(
      fc.property(role, fc.constantFrom("yaml" as const, "json" as const), (raw, format) => {
        const parsed = RoleDefinition.parse(raw);
        expect(readRoles(writeRoles([parsed], format))).toEqual({ roles: [parsed], findings: [] });
      }),
      { numRuns: 300 },
    );
  });

  test("only values that differ from the defaults are written", () => {
    expect(
      writeRoles(
        [RoleDefinition.parse({ name: "B", goals: ["one"] }), RoleDefinition.parse({ name: "A" })],
        "yaml",
      ),
    ).toBe("roles:\n  - name: A\n  - name: B\n    goals:\n      - one\n");
  });
});
