import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { redact } from "@/server/secrets/redact";
import type { ToolScope } from "../define";
import { ToolsRegistry } from "../registry";
import { OperatorTool, parseOperatorFile, readOperatorFile } from "./file";
import { dockerArguments, operatorTools } from "./tools";

/** Without Python nothing of it can be shown. */
const hasPython = (process.env.PATH ?? "")
  .split(path.delimiter)
  .some((dir) => existsSync(path.join(dir, "python3")));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "troupe-operator-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const scope = (signal = new AbortController().signal): ToolScope => ({
  signal,
  idempotencyKey: "call-1",
  run: null,
  agent: null,
});

/** Calls the one tool of a file in the test's folder. */
async function call(
  yaml: string,
  args: Json,
  options: { signal?: AbortSignal; env?: NodeJS.ProcessEnv } = {},
) {
  const file = parseOperatorFile(yaml, { file: "tools.yaml", folder });
  const registry = new ToolsRegistry();
  for (const tool of operatorTools(file, options.env ?? process.env)) registry.register(tool);
  return registry.invoke(file.tools[0]!.name, args, scope(options.signal));
}

const write = (name: string, text: string) => {
  writeFileSync(path.join(folder, name), text);
  chmodSync(path.join(folder, name), 0o755);
};

/** A program of Node that prints its arguments, as a list of words for the file. */
const node = (script: string, ...args: string[]) =>
  JSON.stringify([process.execPath, "-e", script, "--", ...args]);
const script = (command: string, more = "") => `
tools:
  - name: tool
    type: script
    description: A script
    command: ${command}
    memory_mb: 8192
    input: { type: object, properties: { text: { type: string }, n: {} }, required: [text] }
${more}`;

describe("scripts", () => {
  const hostile = [
    "two words",
    `quotes " and '`,
    "-rf",
    "--version",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "| cat /etc/passwd",
    "a\nb",
    "%PATH%",
    "*",
    "~",
    "{{text}}",
    "\\",
    "",
  ];
  test("hostile arguments reach a script unchanged", async () => {
    const echo = node(
      "process.stdout.write(JSON.stringify(process.argv.slice(1)))",
      "{{text}}",
      "{{n}}",
      "end",
    );
    const yaml = script(echo.replace('"{{n}}",', ""), "    result: json");
    for (const text of hostile)
      expect(await call(yaml, { text })).toEqual({ status_code: 200, output: [text, "end"] });
    expect(existsSync(path.join(folder, "pwned"))).toBe(false);
  });

  test("a script next to the tools file gets JSON on stdin, and its stderr becomes the error", async () => {
    write("upper.sh", `#!/bin/sh\ncat | tr a-z A-Z\n`);
    expect(await call(script(`["./upper.sh"]`), { text: "so" })).toEqual({
      status_code: 200,
      output: '{"TEXT":"SO"}',
    });
    write("fails.sh", `#!/bin/sh\necho "no such thing" >&2\nexit 3\n`);
    expect(await call(script(`["./fails.sh"]`), { text: "" })).toEqual({
      tainted: true,
      status_code: 500,
      error: "tool ended with exit code 3:\nno such thing",
    });
    expect(await call(script(`["./fails.sh"]`, "    result: full"), { text: "" })).toEqual({
      status_code: 200,
      output: { exit_code: 3, stdout: "", stderr: "no such thing\n" },
    });
  });

  test("a script runs in a temporary folder and sees only its configured environment", async () => {
    const program = node(
      "require('fs').writeFileSync('file','x');process.stdout.write(JSON.stringify({ cwd: process.cwd(), env: Object.keys(process.env), key: process.env.TROUPE_IDEMPOTENCY_KEY, original: process.env.TROUPE_ORIGINAL_IDEMPOTENCY_KEY, a: process.env.A, b: process.env.B }))",
    );
    const { output } = await call(
      script(program, "    result: json\n    env: [A]\n    set_env: { B: two }"),
      { text: "" },
      {
        env: { ...process.env, A: "one", TROUPE_PASSWORD: "secret-password", OPENAI_API_KEY: "sk-secret" },
      },
    );
    const seen = output as {
      cwd: string;
      env: string[];
      key: string;
      original: string;
      a: string;
      b: string;
    };
    expect(seen).toMatchObject({ key: "call-1", original: "call-1", a: "one", b: "two" });
    expect(seen.env).not.toContain("TROUPE_PASSWORD");
    expect(seen.env).not.toContain("OPENAI_API_KEY");
    expect(seen.cwd).not.toBe(process.cwd());
    expect(existsSync(seen.cwd)).toBe(false);
  });

  test("a script that times out ends with all its child processes", async () => {
    const marker = path.join(folder, "child.pid");
    // The child's child ignores polite requests and would live for a minute.
    write(
      "parent.sh",
      `#!/bin/sh\n(trap "" TERM; echo $$ > /dev/null; exec sleep 60) &\necho $! > ${marker}\nwait\n`,
    );
    const result = await call(script(`["./parent.sh"]`, "    timeout_ms: 3000"), { text: "" });
    expect(result).toEqual({ status_code: 408, error: "It did not finish within 3 s." });
    await expect.poll(() => isAlive(Number(readFileSync(marker, "utf8")))).toBe(false);
  });

  test("background processes that a script leaves running are ended", async () => {
    const marker = path.join(folder, "left.pid");
    write("leaves.sh", `#!/bin/sh\nsleep 60 &\necho $! > ${marker}\necho done\n`);
    expect(await call(script(`["./leaves.sh"]`), { text: "" })).toEqual({
      status_code: 200,
      output: "done\n",
    });
    await expect.poll(() => isAlive(Number(readFileSync(marker, "utf8")))).toBe(false);
  });

  test("a script ends when its call is cancelled", async () => {
    const stop = new AbortController();
    const running = call(script(`["sleep", "60"]`), { text: "" }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 200);
    expect(await running).toMatchObject({ status_code: 408 });
  });

  test("a script with endless output is stopped", async () => {
    expect(await call(script(`["yes"]`, "    max_output_kb: 16"), { text: "" })).toEqual({
      status_code: 413,
      error: "It wrote more than 16384 bytes.",
    });
  });

  test.runIf(hasPython && existsSync("/usr/bin/prlimit"))(
    "a script's memory is limited if the system supports it",
    async () => {
      const yaml = script(`["python3", "-c", "x = bytearray(512 * 1024 * 1024)"]`).replace("8192", "128");
      expect(await call(yaml, { text: "" })).toMatchObject({
        status_code: 500,
        error: expect.stringContaining("MemoryError"),
      });
    },
  );

  test("a missing program and an invalid argument are reported", async () => {
    expect((await call(script(`["./nowhere.sh"]`), { text: "" })).status_code).not.toBe(200);
    expect(await call(script(`["sleep", "{{text}}"]`), { text: "a\0b" })).toMatchObject({ status_code: 400 });
  });
});

describe.runIf(hasPython)("Python functions", () => {
  const python = (name: string, more = "") => `
tools:
  - name: tool
    type: custom
    description: A function
    path: ./analyzer.py
    function: ${name}
    input: { type: object, properties: { text: { type: string }, times: { type: integer } }, required: [text] }
${more}`;
  beforeAll(() => {
    write("beside.py", "def twice(text):\n    return text * 2\n");
    write(
      "analyzer.py",
      `import asyncio, time, os
from beside import twice

def analyze(text: str, times: int = 1) -> dict:
    print("a word on the side")
    return {"text": twice(text) * times, "length": len(text), "nothing": None}

async def later(text: str):
    await asyncio.sleep(0)
    return text

def fails(text: str):
    raise ValueError("not this: " + text)

def slow(text: str):
    time.sleep(60)

def big(text: str):
    return len(bytearray(1024 * 1024 * 1024))

not_a_function = 3
`,
    );
  });

  test("a Python function gets named arguments and returns JSON, and its prints are ignored", async () => {
    expect(await call(python("analyze"), { text: `é "$(x)"`, times: 2 })).toEqual({
      status_code: 200,
      output: { text: `é "$(x)"`.repeat(4), length: 8, nothing: null },
    });
    expect(await call(python("later"), { text: "so" })).toEqual({ status_code: 200, output: "so" });
  });

  test("a Python function's failures, exceeded limits and absence are reported", async () => {
    expect(await call(python("fails"), { text: "one" })).toMatchObject({
      status_code: 500,
      error: expect.stringContaining("ValueError: not this: one"),
    });
    expect(await call(python("slow", "    timeout_ms: 1000"), { text: "" })).toMatchObject({
      status_code: 408,
    });
    expect(await call(python("big", "    memory_mb: 256"), { text: "" })).toMatchObject({
      status_code: 500,
      error: expect.stringContaining("MemoryError"),
    });
    expect(await call(python("not_a_function"), { text: "" })).toMatchObject({
      error: expect.stringContaining("There is no function not_a_function"),
    });
    expect(await call(python("analyze"), { text: 5 })).toMatchObject({ status_code: 400 });
  });
});

test("a container gets only its configured settings, with each value as a separate argument", () => {
  const tool = OperatorTool.parse({
    type: "docker",
    name: "convert",
    description: "Converts",
    image: "registry.example/convert:1.2",
    args: ["--format", "{{format}}", "--", "{{file}}"],
    input: { type: "object", properties: { format: {}, file: {} }, required: ["format", "file"] },
    env: ["TOKEN"],
    memory_mb: 256,
    cpus: 0.5,
  });
  if (tool.type !== "docker") throw new Error("not a container");
  expect(dockerArguments(tool, { format: "a b; rm -rf /", file: "--privileged" }, "troupe-1")).toEqual(
    `docker run --rm --interactive --name troupe-1 --network none --read-only --tmpfs /tmp:rw,size=64m --memory 256m --memory-swap 256m --cpus 0.5 --pids-limit 256 --cap-drop ALL --security-opt no-new-privileges --env TOKEN --env TROUPE_IDEMPOTENCY_KEY --env TROUPE_ORIGINAL_IDEMPOTENCY_KEY registry.example/convert:1.2 --format`
      .split(" ")
      .concat("a b; rm -rf /", "--", "--privileged"),
  );
});

describe("tools file", () => {
  const problemsOf = (text: string) => {
    try {
      parseOperatorFile(text, { file: "tools.yaml", folder });
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };

  test("operator tools default to high risk, untrusted content and the ability to send", () => {
    const { tools } = parseOperatorFile(script(`["true"]`), { file: "tools.yaml", folder });
    const [tool] = operatorTools({ tools, mcp_servers: [], mcp_tools: {}, folder });
    expect(tool?.spec).toMatchObject({
      source: "operator",
      risk: "HIGH",
      taints: true,
      sink: true,
      read_only: false,
    });
    const low = parseOperatorFile(script(`["true"]`, "    risk: LOW\n    taints: false\n    sink: false"), {
      file: "tools.yaml",
      folder,
    });
    expect(operatorTools(low)[0]?.spec).toMatchObject({ risk: "LOW", taints: false, sink: false });
  });

  test("a secret in the tools file is redacted like an environment secret", () => {
    parseOperatorFile(
      `mcp_servers: [{ name: m, command: x, set_env: { M_TOKEN: CANARY-in-the-file, M_MODE: production } }]`,
      { file: "tools.yaml", folder },
    );
    expect(redact("CANARY-in-the-file in production")).toBe("[hidden] in production");
  });

  test("every mistake in the tools file is reported with its location", () => {
    expect(
      problemsOf(`
tools:
  - { name: a, type: script, description: d, command: ["./a.sh", "--x={{y}}"] }
  - { name: "b c", type: script, description: d, command: [] }
  - { name: d, type: shell, description: d }
  - { name: e, type: docker, description: d, image: "--privileged", shell: true }
  - { name: f, type: script, description: d, command: ["{{z}}"] }
  - { name: g, type: python, description: d, path: x.py, function: "a b", env: [TROUPE_PASSWORD] }
`).split("\n"),
    ).toEqual([
      "TROUPE_TOOLS_FILE: tools.yaml is invalid:",
      "  tools[0].command[1]: a value replaces an entire argument: write {{name}} alone, or read standard input",
      "  tools[1].name: use letters, digits, _ and - (at most 64)",
      expect.stringContaining("  tools[1].command: "),
      "  tools[2]: must have type: script, python, python_session or docker",
      "  tools[3].image: isn't a valid image name",
      expect.stringContaining('  tools[3]: Unrecognized key: "shell"'),
      "  tools[4].command[0]: the program itself can't be a value",
      '  tools[4].command[0]: "z" must be listed in input.required',
      "  tools[5].env[0]: Troupe's own settings aren't passed on",
      "  tools[5].function: isn't a valid function name",
    ]);
    expect(problemsOf("tools: [")).toContain("tools.yaml is invalid");
    expect(problemsOf(`mcp_servers: [{ name: a, command: x }, { name: a, command: y }]`)).toContain(
      'mcp_servers: duplicate "a"',
    );
    expect(() => readOperatorFile(path.join(folder, "nowhere.yaml"))).toThrow("nowhere.yaml (ENOENT)");
  });

  test("a tools file may be JSON, and an empty file declares nothing", () => {
    const json = JSON.stringify({ mcp_servers: [{ name: "files", command: "./server", args: ["a b"] }] });
    expect(parseOperatorFile(json, { file: "tools.json", folder }).mcp_servers).toEqual([
      { name: "files", command: path.join(folder, "server"), args: ["a b"], environment: {}, cwd: folder },
    ]);
    expect(parseOperatorFile("", { file: "tools.yaml", folder })).toEqual({
      tools: [],
      mcp_servers: [],
      mcp_tools: {},
      folder,
    });
  });
});

/** Whether a process is there and not only waiting to be collected. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
