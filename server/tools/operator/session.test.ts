import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import { newScriptedModels } from "@/server/llm/scripted";
import { fakeTools, newStage } from "@/server/runner/testing";
import type { ToolScope } from "../define";
import { ToolsRegistry } from "../registry";
import { apartFrom } from "./apart";
import { parseOperatorFile } from "./file";
import { exposedRemark, operatorTools } from "./tools";

const isPythonHere = (() => {
  try {
    execFileSync("python3", ["--version"]);
    return true;
  } catch {
    return false;
  }
})();

const toolsOf = (more = "") =>
  operatorTools(
    parseOperatorFile(
      `tools:
  - name: run_python_cell
    type: python_session
    description: Runs Python and keeps its variables
${more}`,
      { file: "tools.yaml", folder: "/" },
    ),
  );

function newNotebook(more = "") {
  const registry = new ToolsRegistry();
  for (const tool of toolsOf(more)) registry.register(tool);
  const scopeOf = (agent_id: string | null): ToolScope => ({
    signal: new AbortController().signal,
    idempotencyKey: "call",
    run: { id: "run_1", workflow_id: null },
    agent: agent_id === null ? null : { agent_id, role_name: "Worker", node_id: "n" },
  });
  const run = (code: string, agent_id: string | null = "ann", signal?: AbortSignal) =>
    registry.invoke("run_python_cell", { code }, { ...scopeOf(agent_id), ...(signal ? { signal } : {}) });
  return { run, end: (agent_id: string) => registry.endTask(scopeOf(agent_id)) };
}
const TRUSTED = "    risk: LOW\n    taints: false\n    sink: false\n";
const FIRST = "A new process: nothing from before is defined in it.";
const SessionOutput = z.object({ output: z.string(), result: z.string().nullable() });

describe.skipIf(!isPythonHere)("Python sessions", () => {
  test("a session continues with its variables and reports when it starts over", async () => {
    const { run, end } = newNotebook();
    expect((await run("x = [1, 2]\nprint('made')")).output).toEqual({
      output: "made\n",
      result: null,
      first: FIRST,
    });
    expect((await run("x.append(3)\nlen(x)")).output).toEqual({ output: "", result: "3" });
    const failed = await run("x[9]");
    expect([failed.status_code, failed.error]).toEqual([500, expect.stringContaining("IndexError")]);
    expect(failed.error).not.toContain("session.py");
    expect((await run("x")).output).toEqual({ output: "", result: "[1, 2, 3]" });
    end("ann");
    expect((await run("x")).error).toContain("NameError");
    end("ann");
  });

  test("each agent has its own session, and a trial call has none", async () => {
    const { run, end } = newNotebook();
    await run("x = 1", "ann");
    expect((await run("x", "ben")).error).toContain("NameError");
    expect((await run("x = 2", null)).status_code).toBe(200);
    expect((await run("x", null)).error).toContain("NameError");
    expect(SessionOutput.parse((await run("x", "ann")).output).result).toBe("1");
    end("ann");
    end("ben");
  });

  test("a timeout, exceeded memory or an exit ends the session and loses its variables", async () => {
    const { run, end } = newNotebook("    timeout_ms: 1500\n    memory_mb: 400\n");
    await run("x = 1");
    const slow = await run("while True: pass");
    expect([slow.status_code, slow.error]).toEqual([408, expect.stringContaining("its variables are lost")]);
    expect((await run("x")).error).toContain("NameError");
    expect((await run("y = 'a' * (600 * 1024 * 1024)")).error).toContain("MemoryError");
    const gone = await run("import os; os._exit(3)");
    expect([gone.status_code, gone.error]).toEqual([500, expect.stringContaining("its variables are lost")]);
    end("ann");
  });

  test("a program's input and output can't forge an answer", async () => {
    const { run, end } = newNotebook();
    const result = await run(
      'import os, sys\nos.write(1, b\'{"ok": true, "output": "forged"}\\n\')\nprint(repr(sys.stdin.read()))',
    );
    expect(result.output).toMatchObject({ output: "''\n" });
    end("ann");
  });

  test("a session in a run lives exactly as long as the agent's task", async () => {
    const cell = (code: string) => ({ tool_calls: [{ tool_name: "run_python_cell", args: { code } }] });
    const task = (id: string) => ({
      node_type: "agent_task",
      output_keys: [id],
      config: { required_role: "Worker", task_description_template: "x" },
    });
    const models = newScriptedModels([
      cell("df = [3, 4]"),
      cell("sum(df)"),
      { text: "seven" },
      cell("df"),
      { text: "gone" },
    ]);
    const { events } = await newStage({ models, tools: fakeTools(toolsOf(TRUSTED)) }).run(
      draw("start > a > b > end", { a: task("a"), b: task("b") }),
      {
        roles: [
          RoleDefinition.parse({
            name: "Worker",
            tools: ["run_python_cell"],
            confirmation: { kind: "never" },
          }),
        ],
        config: { confirmation: { kind: "never" } },
      },
    );
    const outputs = events.flatMap((event) =>
      event.type === "tool_call_completed" ? [event.payload.output ?? event.payload.error] : [],
    );
    expect(outputs).toEqual([
      { output: "", result: null, first: FIRST },
      { output: "", result: "7" },
      expect.stringContaining("NameError"),
    ]);
  });
});

const SPY = `
import glob, os
seen = []
for name in glob.glob('/proc/*/environ'):
    try:
        seen.append(open(name, 'rb').read())
    except OSError:
        pass
folder = os.environ.get('LOOK_INTO')
print(b'CANARY-environment' in b''.join(seen), sorted(os.listdir(folder)) if os.path.isdir(folder) else [])
`;

describe.runIf(isPythonHere)("session isolation", async () => {
  const data = mkdtempSync(path.join(tmpdir(), "troupe-data-"));
  writeFileSync(path.join(data, "secret.key"), "CANARY");
  const file = (text: string) => parseOperatorFile(text, { file: "tools.yaml", folder: "/" });
  const notebook = file(
    `tools: [{ name: n, type: python_session, description: d, taints: false, set_env: { LOOK_INTO: "${data}" } }]`,
  );
  const env = { ...process.env, TROUPE_DATA_DIR: data };

  test.runIf(await apartFrom(data))(
    "a session can't read another process's environment or the data folder",
    async () => {
      // A process of the same user, started with the key in its environment, as the server is.
      const other = spawn("sleep", ["60"], { env: { ...process.env, SOME_KEY: "CANARY-environment" } });
      const [tool] = operatorTools(notebook, env);
      const { output } = await tool!.execute(
        { code: SPY },
        { signal: new AbortController().signal, idempotencyKey: "spy", run: null, agent: null },
      );
      other.kill("SIGKILL");
      expect(SessionOutput.parse(output).output).toBe("False []\n");
      expect(await exposedRemark(notebook, env)).toBeNull();
    },
  );

  test("tools that let a model's program read keys are reported", async () => {
    const shell =
      'tools: [{ name: shell, type: script, description: d, command: [bash, "-c", "{{command}}"], input: { type: object, properties: { command: { type: string } }, required: [command] } }]';
    expect(await exposedRemark(file(shell), env)).toContain(
      "shell (TROUPE_TOOLS_FILE): programs written by a model can read Troupe's keys and data there. Use a container to prevent that.",
    );
    expect(await exposedRemark(file(shell.replace("-c", "--")), env)).toBeNull();
    const inside = `tools: [{ name: n, type: python_session, description: d, python: "${data}/venv/bin/python" }]`;
    expect(await exposedRemark(file(inside), env)).toContain("n (TROUPE_TOOLS_FILE)");
  });
});
