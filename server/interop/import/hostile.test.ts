import path from "node:path";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { Rejection } from "@/server/domain/errors/rejection";
import { timed } from "@/server/testing/growth";
import { sized } from "@/server/testing/thorough";
import { unpack } from "./archive";
import { newImportReader, readSent } from "./off-thread";
import { readImport, TOO_COMPLEX } from "./pipeline";
import { files } from "./testing";

const zip = (texts: Record<string, string>) => [
  {
    path: "a.zip",
    base64: Buffer.from(
      zipSync(Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, strToU8(text)]))),
    ).toString("base64"),
  },
];
const errorsOf = (texts: Record<string, string>) => {
  const { imported, findings } = readImport(files(texts));
  expect(imported).toBeNull();
  return findings.flatMap(({ level, message }) => (level === "error" ? [message] : []));
};

describe("archives", () => {
  test("an archive is unpacked without its top folder", () => {
    expect(unpack(zip({ "top/a.yaml": "a: 1", "top/b/c.md": "# c", "top/logo.png": "x" }))).toEqual([
      { path: "a.yaml", text: "a: 1" },
      { path: "b/c.md", text: "# c" },
    ]);
  });

  test("an oversized archive is rejected before it is fully unpacked", () => {
    const bomb = Object.fromEntries(
      Array.from({ length: 4 }, (_, n) => [`${n}.json`, " ".repeat(4 * 1024 * 1024)]),
    );
    expect(() => unpack(zip(bomb))).toThrow("its files exceed 10 MiB in total");
    expect(() => unpack(zip({ "a.json": " ".repeat(6 * 1024 * 1024) }))).toThrow("larger than 5 MiB");
  });

  test("an archive with too many files is rejected", () => {
    expect(() =>
      unpack(zip(Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`${n}.md`, "x"])))),
    ).toThrow("more than 500 readable files");
  });

  test.each(["../a.yaml", "/etc/passwd", "a/../../b", "C:/a.yaml", "a\\..\\b"])(
    "an archive with the path %s is rejected",
    (path) => {
      expect(() => unpack(zip({ [path]: "a: 1" }))).toThrow(
        /points outside its folder|has invalid characters/,
      );
      expect(errorsOf({ [path]: "a: 1" })[0]).toMatch(/points outside its folder|has invalid characters/);
    },
  );

  test("a damaged archive is rejected with a message", () => {
    const bytes = Buffer.from(zip({ "a.yaml": "a: 1".repeat(1000) })[0]?.base64 ?? "", "base64");
    bytes.fill(0xff, 40, 60);
    expect(() => unpack([{ path: "a.zip", base64: bytes.toString("base64") }])).toThrow("a.zip");
    expect(() =>
      unpack([{ path: "a.bin", base64: Buffer.from([0xff, 0xfe, 0x00]).toString("base64") }]),
    ).toThrow("is not UTF-8 text");
  });
});

describe("files", () => {
  test("a file with multiplying aliases is rejected", () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let n = 1; n < 12; n++)
      lines.push(
        `a${n}: &a${n} [${Array(10)
          .fill(`*a${n - 1}`)
          .join(", ")}]`,
      );
    expect(errorsOf({ "agents.yaml": lines.join("\n") })[0]).toContain("aliases");
  });

  test("a file may use ordinary aliases and merge keys", () => {
    const { imported } = readImport(
      files({
        "agents.yaml":
          "a: &base\n  role: Reader\n  goal: Read\n  backstory: Fast\nb:\n  <<: *base\n  role: Writer\n",
      }),
    );
    expect(imported?.roles.map(({ name, goals }) => [name, goals])).toEqual([
      ["Reader", ["Read"]],
      ["Writer", ["Read"]],
    ]);
  });

  test.each([
    ["a.json", `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`],
    ["a.yaml", `${"[".repeat(5_000)}${"]".repeat(5_000)}`],
    ["a.yaml", Array.from({ length: 400 }, (_, n) => `${" ".repeat(n)}a:`).join("\n")],
  ])("a deeply nested file is rejected: %s", (path, text) => {
    expect(errorsOf({ [path]: text })[0]).toContain("nested");
  });

  test("a file that names __proto__ doesn't change any prototype", () => {
    const text =
      '{"name": "F", "agents": {"a": {"role": "A", "goal": "G", "__proto__": {"polluted": 1}}, "__proto__": {"role": "P", "goal": "Q"}}, "tasks": [{"name": "constructor", "description": "{__proto__} {constructor}", "expected_output": "", "agent": "a"}]}';
    const { imported, findings } = readImport(files({ "crew.json": text }));
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(imported?.roles.map(({ name }) => name)).toEqual(["A"]);
    expect(findings.filter(({ message }) => message.includes("reserved word"))).not.toHaveLength(0);
  });

  test("files larger than the limit are rejected, alone or in total", () => {
    expect(errorsOf({ "a.json": `"${"x".repeat(10 * 1024 * 1024)}"` })[0]).toContain("larger than 5 MiB");
    const part = "x".repeat(4 * 1024 * 1024);
    expect(errorsOf({ "a.md": part, "b.md": part, "c.md": part })[0]).toContain(
      "The files exceed 10 MiB in total",
    );
  });

  test("apparent secrets are removed from a file and reported", () => {
    const { imported, findings } = readImport(
      files({
        "agents.yaml":
          "a:\n  role: A\n  goal: Use sk-abcdefghijklmnopqrstuvwx\n  backstory: b\n  api_key: 0123456789abcdef\n",
      }),
    );
    expect(JSON.stringify(imported)).not.toMatch(/sk-abc|0123456789abcdef/);
    expect(findings.filter(({ message }) => message.startsWith("Removed ")).map(({ line }) => line)).toEqual([
      3, 5,
    ]);
  });

  test("a file with too many roles is rejected", () => {
    const agents = Array.from({ length: 501 }, (_, at) => `a${at} = Agent(name="N${at}")\n`).join("");
    expect(errorsOf({ "a.py": `from agents import Agent\n${agents}` })).toEqual([
      "The files have 501 roles; at most 500 can be imported at once.",
    ]);
  });

  test("unrecognized and empty files are rejected", () => {
    expect(errorsOf({ "a.json": '{"hello": 1}' })).toEqual([
      "No workflow, crew, agent or role in a supported format was found in a.json.",
    ]);
    expect(errorsOf({ "": "  " })).toEqual(["The file is empty."]);
    expect(errorsOf({ "": "import os" })).toEqual([
      "No workflow, crew, agent or role in a supported format was found in this text.",
    ]);
  });
});

/** Lines of `name0 = first`, and `name1` to `nameN`, each made of the one before it. */
const doublings = (n: number, first: string, next: (before: string) => string): string =>
  Array.from({ length: n + 1 }, (_, at) => `s${at} = ${at === 0 ? first : next(`s${at - 1}`)}`).join("\n");
const crew = (lines: string, fields: Partial<Record<"agent" | "task" | "crew", string>>): string =>
  `from crewai import Agent, Task, Crew
${lines}
A = Agent(role="a", goal="b", ${fields.agent ?? 'backstory="c"'})
T = Task(description="d", agent=A, ${fields.task ?? 'expected_output="x"'})
Crew(tasks=[T], ${fields.crew ?? "agents=[A]"})
`;
const agent = (lines: string, input: string): string =>
  `from agents import Agent, Runner
a = Agent(name="A", instructions=${input})
def main(q):
${lines.replace(/^/gm, "    ")}
    return Runner.run_sync(a, ${input})
`;
const typescript = (input: string): string =>
  `import { Agent, run } from "@openai/agents";
const a = new Agent({ name: "A", instructions: ${input} });
async function main(q: string) { return await run(a, ${input}); }
`;
const classes = (levels: number, fields: number): string => {
  const made = Array.from(
    { length: levels },
    (_, at) =>
      `class C${at + 1}(BaseModel):\n${Array.from({ length: fields }, (_, k) => `    f${k}: C${at}\n`).join("")}`,
  );
  return `from agents import Agent, Runner
from pydantic import BaseModel
class C0(BaseModel):
    x: str
${made.join("")}a = Agent(name="A", instructions="Do.", output_type=C${levels})
Runner.run_sync(a, "hi")
`;
};
/** Nodes in a line, two edges from each to the next one. */
const langGraph = (count: number, nameOf: (at: number) => string): string => {
  const ids = ["__start__", ...Array.from({ length: count }, (_, at) => `${nameOf(at)}`), "last", "__end__"];
  const isSame = new Set(ids).size < ids.length;
  const idOf = (at: number) => (isSame && at > 0 && at <= count ? String(at) : (ids[at] ?? ""));
  return JSON.stringify({
    nodes: ids.map((name, at) => ({ id: idOf(at), type: "runnable", data: { name } })),
    edges: ids
      .slice(1)
      .flatMap((_, at) =>
        ["a", "b"].map((data) => ({ source: idOf(at), target: idOf(at + 1), data, conditional: true })),
      ),
  });
};
const repeated = (count: number, text: string): string => text.repeat(count);

/** Files of n doublings, for each place of each format that takes a value. */
const DOUBLED: Record<string, (n: number) => Record<string, string>> = {
  "CrewAI: texts joined": (n) => ({
    "c.py": crew(
      doublings(n, "'x' * 3", (s) => `${s} + ${s}`),
      { agent: `backstory=s${n}` },
    ),
  }),
  "CrewAI: a written text joined": (n) => ({
    "c.py": crew(
      doublings(n, "'xy'", (s) => `${s} + ${s}`),
      { agent: `backstory=s${n}` },
    ),
  }),
  "CrewAI: texts in texts": (n) => ({
    "c.py": crew(
      doublings(n, "'xy'", (s) => `f"{${s}}{${s}}"`),
      { task: `expected_output=s${n}` },
    ),
  }),
  "CrewAI: ten texts in each text": (n) => ({
    "c.py": crew(
      doublings(n, "'xy'", (s) => `f"${repeated(10, `{${s}}`)}"`),
      { agent: `backstory=s${n}` },
    ),
  }),
  "CrewAI: tools joined": (n) => ({
    "c.py": crew(
      doublings(n, "[T1]", (s) => `${s} + ${s}`),
      { agent: `tools=s${n}` },
    ),
  }),
  "CrewAI: tools spread": (n) => ({
    "c.py": crew(
      doublings(n, "[T1]", (s) => `[*${s}, *${s}]`),
      { agent: `tools=s${n}` },
    ),
  }),
  "CrewAI: agents joined": (n) => ({
    "c.py": crew(
      doublings(n, "[A]", (s) => `${s} + ${s}`),
      { crew: `agents=s${n}` },
    ),
  }),
  "CrewAI: the context spread": (n) => ({
    "c.py": crew(
      doublings(n, "[A]", (s) => `[*${s}, *${s}]`),
      { task: `context=s${n}` },
    ),
  }),
  "CrewAI: a list that holds itself": (n) => ({
    "c.py": crew(
      doublings(n, `[*s${n}]`, (s) => `${s} + ${s}`),
      { agent: `tools=s${n}` },
    ),
  }),
  "CrewAI: the shape of an answer": (n) => ({
    "c.py": crew(classes(n, 3), { task: `expected_output="x", output_pydantic=C${n}` }),
  }),
  "Agents SDK: numbers added": (n) => ({ "a.py": agent("x = 1", repeated(n, "1 + ").concat("1")) }),
  "Agents SDK, TypeScript: numbers added": (n) => ({ "a.ts": typescript(repeated(n, "1 + ").concat("1")) }),
  "Agents SDK, TypeScript: lengths in a condition": (n) => ({
    "a.ts": typescript("q").replace("return", `if (${repeated(n, "q.length + ")}1 > 3) return`),
  }),
  "Agents SDK, TypeScript: choices that are always so": (n) => ({
    "a.ts": typescript(`${repeated(n, "true ? ")}2${repeated(n, " : 2")}`),
  }),
  "Agents SDK, TypeScript: choices that are never so": (n) => ({
    "a.ts": typescript(`${repeated(n, "false ? 'a' : ")}2`),
  }),
  "Agents SDK, TypeScript: choices by a value": (n) => ({
    "a.ts": typescript(`${repeated(n, "q ? ")}2${repeated(n, " : 2")}`),
  }),
  "Agents SDK, TypeScript: functions in functions": (n) => ({
    "a.ts": typescript("q").replace("return", `const f = ${repeated(n, "() => ")}1; return`),
  }),
  "Agents SDK: texts joined": (n) => ({
    "a.py": agent(
      doublings(n, "q", (s) => `${s} + ${s}`),
      `s${n}`,
    ),
  }),
  "Agents SDK: a value in texts": (n) => ({
    "a.py": agent(
      doublings(n, "q", (s) => `f'{${s}}{${s}}'`),
      `s${n}`,
    ),
  }),
  "Agents SDK: a fixed text in texts": (n) => ({
    "a.py": agent(
      doublings(n, "'xy'", (s) => `f'{${s}}{${s}}'`),
      `s${n}`,
    ),
  }),
  "Agents SDK: lists in a text": (n) => ({
    "a.py": agent(
      doublings(n, "q", (s) => `[${s}, ${s}]`),
      `f'{s${n}}'`,
    ),
  }),
  "Agents SDK: lists": (n) => ({
    "a.py": agent(
      doublings(n, "q", (s) => `[${s}, ${s}]`),
      `s${n}`,
    ),
  }),
  "Agents SDK: records as JSON": (n) => ({
    "a.py": agent(
      doublings(n, "q", (s) => `{'a': ${s}, 'b': ${s}}`),
      `json.dumps(s${n})`,
    ),
  }),
  "Agents SDK: records in two ways": (n) => ({
    "a.py": agent(
      `if q == "x":\n${doublings(n, "q", (s) => `{'a': ${s}, 'b': ${s}}`).replace(/^/gm, "    ")}\nelse:\n${doublings(n, "q", (s) => `{'a': ${s}, 'b': ${s}}`).replace(/^/gm, "    ")}\nr = Runner.run_sync(a, q)`,
      `f"{s${n}}"`,
    ).replace('== "x":', '== "x":\n        r = Runner.run_sync(a, q)'),
  }),
  "Agents SDK: messages joined": (n) => ({
    "a.py": agent(
      doublings(n, "[{'role': 'user', 'content': q}]", (s) => `${s} + ${s}`),
      `s${n}`,
    ),
  }),
  "Agents SDK: messages spread": (n) => ({
    "a.py": agent(
      doublings(n, "[{'role': 'user', 'content': q}]", (s) => `[*${s}, *${s}]`),
      `s${n}`,
    ),
  }),
  "Agents SDK: constants": (n) => ({
    "a.py": `${doublings(n, "'x'", (s) => `[${repeated(12, `${s}, `)}]`)}\n${agent("x = 1", `s${n}`)}`,
  }),
  "Agents SDK: constants in a condition": (n) => ({
    "a.py": `${doublings(n, "1", (s) => `${s} * ${s}`)}\n${agent(`if q == s${n}:\n    return Runner.run_sync(a, "y")`, "q")}`,
  }),
  "Agents SDK: classes of six fields": (n) => ({ "a.py": classes(n, 6) }),
};

/** Files that are only long, in places where reading them once began anew at each place. */
const LONG: Record<string, (n: number) => Record<string, string>> = {
  "comments without an end": (n) => ({ "": `${repeated(n, "/**/")}x` }),
  "blank lines in a text": (n) => ({ "a.txt": repeated(n, "\n\t") }),
  "blank lines in YAML": (n) => ({ "a.yaml": repeated(n, "\n") }),
  "blank lines in a text without a name": (n) => ({ "": `${repeated(n, "\n")}x` }),
  "agents without brackets": (n) => ({ "a.txt": `Agent${repeated(4 * n, " ")}` }),
  "agents with open brackets": (n) => ({ "a.txt": repeated(n, "Agent<") }),
  "classes in a line": (n) => ({ "a.txt": repeated(n, "class a(") }),
  "fences in a line": (n) => ({ "a.md": repeated(n, "```mermaid") }),
  "brackets in a diagram": (n) => ({
    "a.mmd": `graph TD;\n__start__ --> a;\na[${repeated(n, "<")}\nb(${repeated(n, ")")}x\n`,
  }),
  "words before a variable": (n) => ({
    "agents.yaml": `a:\n  role: "${repeated(n, "for ")}x ${repeated(n, "-")}x"\n  goal: g\n  backstory: b\n`,
  }),
  "quotes in an expression": (n) => ({
    "flow.yaml": `name: f\nmethods:\n  a:\n    start: true\n    do:\n      call: expression\n      expr: "\${\\"${repeated(n, '\\\\\\"')}}"\n`,
  }),
  "nodes of LangGraph": (n) => ({ "g.json": langGraph(n / 10, (at) => `n${at}`) }),
  "nodes of LangGraph with one name": (n) => ({ "g.json": langGraph(n / 10, () => "same") }),
  "marks of graphs in graphs": (n) => ({ "g.json": langGraph(n / 100, (at) => `g${at}:__end__`) }),
  "chains of LangChain": (n) => ({
    "c.json": JSON.stringify({
      _type: "sequential_chain",
      chains: Array.from({ length: n / 10 }, (_, at) => ({
        _type: "llm_chain",
        prompt: { _type: "prompt", template: `Do {x${at}}`, input_variables: [`x${at}`] },
        output_key: `x${at + 1}`,
      })),
    }),
  }),
  "examples of LangChain": (n) => ({
    "p.json": JSON.stringify({
      _type: "few_shot",
      suffix: "{x}",
      examples: Array.from({ length: n / 20 }, () => ({ a: "x" })),
      example_prompt: { _type: "prompt", template: repeated(n / 20, "{a} "), input_variables: ["a"] },
    }),
  }),
  "signs before a number": (n) => ({ "a.py": agent("x = 1", `${repeated(n, "-")}1`) }),
  "brackets in brackets": (n) => ({ "a.py": agent("x = 1", `${repeated(n, "f(")}1${repeated(n, ")")}`) }),
  "calls of one long function": (n) => ({
    "a.py": `def f():\n    x = 1\n${repeated(n / 20, "    g(x)\n")}    return Agent(name="F")\n${agent(repeated(n / 20, "f()\n"), "f()")}`,
  }),
  "classes that call themselves": (n) => ({
    "a.py": `${repeated(n / 40, "class A:\n    def f(self):\n        return self.f()\n")}${agent("x = 1", "q")}`,
  }),
  "cases of a switch": (n) => ({
    "a.ts": `${typescript("q")}switch (x) { ${repeated(n / 10, "case 1: f();")} }`,
  }),
  "runs that each know those before": (n) => ({
    "a.py": agent(
      Array.from({ length: n / 100 }, (_, at) => `r${at} = Runner.run_sync(a, m)\nm = r${at}.to_input_list()`)
        .join("\n")
        .replace("a, m", "a, q"),
      "m",
    ),
  }),
};

describe("exponential files", () => {
  test.each(Object.entries(DOUBLED))("exponentially growing values stay within the budget: %s", (_, make) => {
    for (const n of [3, 40, 12, 120].slice(0, sized(2, 4))) {
      const { imported, findings } = readImport(files(make(n)));
      const errors = findings.filter(({ level }) => level === "error").map(({ message }) => message);
      if (imported) expect(JSON.stringify(imported).length).toBeLessThan(4_000_000);
      else expect(errors).toEqual([TOO_COMPLEX]);
      if (n === 3) expect(imported).not.toBeNull();
    }
  });
});

describe("long files", () => {
  const read = (make: () => Record<string, string>) => timed(() => readImport(files(make())));
  test.each(Object.entries(LONG))("a long file is read in linear time: %s", async (_, make) => {
    const length = sized(8_000, 40_000);
    // In proportion it is four times as much; a square is sixteen times. Twice may be bad luck on a busy machine.
    const isLinear = async () => {
      const shorter = await read(() => make(length));
      return (await read(() => make(4 * length))) < 8 * Math.max(shorter, 250);
    };
    expect((await isLinear()) || (await isLinear()) || (await isLinear())).toBe(true);
  });
});

describe("reader thread", () => {
  const CREW = files({ "agents.yaml": "a:\n  role: Reader\n  goal: Read\n  backstory: Fast\n" });
  const limits = { readMs: 1_000, startMs: 20_000, idleMs: 5_000, memoryMb: 64, waiting: 3 };
  const planted = (more = {}) =>
    newImportReader({
      file: () => path.join(import.meta.dirname, "formats/testing/endless-worker.mjs"),
      limits: { ...limits, ...more },
    });

  test("the reader thread matches direct reading and rejects damaged archives", async () => {
    expect(await readSent(CREW)).toEqual(structuredClone(readImport(CREW)));
    const zipped = await readSent(zip({ "top/agents.yaml": CREW[0]?.text ?? "", "top/b.md": "x" }));
    expect(zipped.imported?.roles).toEqual(readImport(CREW).imported?.roles);
    await expect(readSent([{ path: "a.zip", base64: "UEsDBAAA" }])).rejects.toThrow(Rejection);
  });

  test("a hung reader thread is ended without blocking and replaced for the next import", async () => {
    const read = planted();
    let turns = 0;
    const counting = setInterval(() => turns++, 10);
    const [endless, next] = await Promise.all([read(files({ "a.txt": "endless" })), read(CREW)]);
    clearInterval(counting);
    expect(endless.findings).toMatchObject([
      { level: "error", message: expect.stringMatching(/longer than/) },
    ]);
    expect(next.findings).toEqual([]);
    expect(turns).toBeGreaterThan(5);
  });

  test("a reader thread that uses too much memory is ended", async () => {
    const { imported, findings } = await planted({ readMs: 15_000 })(files({ "a.txt": "memory" }));
    expect(imported).toBeNull();
    expect(findings).toMatchObject([{ level: "error", message: expect.stringMatching(/memory/) }]);
  });

  test("the reader thread limits the number of queued imports", async () => {
    const read = planted();
    const all = await Promise.all([CREW, CREW, CREW, CREW].map((one) => read(one)));
    expect(all.map(({ findings }) => findings.length)).toEqual([0, 0, 0, 1]);
  });

  test("a failed reader thread reports an internal error", async () => {
    await expect(planted()(files({ "a.txt": "fault" }))).rejects.toThrow("planted");
  });
});
