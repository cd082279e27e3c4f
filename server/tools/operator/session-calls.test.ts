import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { call, calls, newScriptedStage, of, role } from "@/server/conformance/stage";
import { draw } from "@/server/domain/testing/drawing";
import { newScriptedModels } from "@/server/llm/scripted";
import { fakeTools, killed, newStage } from "@/server/runner/testing";
import { defineTool, ToolFailure, type ToolInterface } from "../define";
import { parseOperatorFile } from "./file";
import { operatorTools } from "./tools";

const isPythonHere = (() => {
  try {
    execFileSync("python3", ["--version"]);
    return true;
  } catch {
    return false;
  }
})();

const folder = mkdtempSync(path.join(tmpdir(), "troupe-session-calls-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const notebook = (more = "") =>
  operatorTools(
    parseOperatorFile(
      `tools: [{ name: notebook, type: python_session, description: Runs Python., risk: LOW, taints: false, sink: false${more} }]`,
      { file: "tools.yaml", folder: "/" },
    ),
  );
const Lookup = z.object({ word: z.string(), times: z.number().optional() });
const lookup = (execute: (input: z.infer<typeof Lookup>) => unknown, more: object = {}) =>
  defineTool({
    name: "lookup",
    description: "Looks a word up",
    input: Lookup,
    source: "custom",
    risk: "LOW",
    read_only: true,
    ...more,
    execute: async (input) => z.json().parse(await execute(Lookup.parse(input))),
  });
const repeated = lookup(({ word, times = 1 }) => ({ words: Array(times).fill(word) }));
const graph = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    output_keys: ["answer"],
    config: { required_role: "Worker", task_description_template: "compute it" },
  },
});
const cell = (code: string) => calls(call("notebook", { code }));
const FIRST = "A new process: nothing from before is defined in it.";

/** What an agent's Python programs gave, one after the other. */
async function ran(
  programs: readonly string[],
  tools: readonly ToolInterface[],
  { grants = ["notebook", ...tools.map(({ spec }) => spec.name)], agrees = false, more = "" } = {},
) {
  const stage = newScriptedStage([...programs.map(cell), { text: "done" }], [...notebook(more), ...tools]);
  const { events } = await stage.run(graph, { roles: [role("Worker", grants)], agrees });
  const gave = of(events, "tool_call_completed").flatMap(({ tool_name, output, error }) =>
    tool_name === "notebook" ? [output ?? error] : [],
  );
  return { events, gave, models: stage.models, calls: stage.tools.calls };
}

describe.skipIf(!isPythonHere)("tools as functions of a Python session", () => {
  test("a program calls a tool by position and by name, and its other values stay in the session", async () => {
    const {
      gave,
      events,
      calls: made,
    } = await ran(
      [
        "class Frame: pass\nframe = Frame()\nfound = lookup('a', times=2)\nprint(len(found['words']))",
        "[type(frame).__name__, tools['lookup'](word='b')['words'], found['words']]",
      ],
      [repeated],
    );
    expect(gave).toEqual([
      { output: "2\n", result: null, first: FIRST },
      { output: "", result: "['Frame', ['b'], ['a', 'a']]" },
    ]);
    expect(made.filter((line) => line.includes(" lookup "))).toEqual([
      'Worker lookup {"word":"a","times":2}',
      'Worker lookup {"word":"b"}',
    ]);
    expect(of(events, "tool_call_started").map(({ tool_name }) => tool_name)).toEqual([
      "notebook",
      "lookup",
      "notebook",
      "lookup",
    ]);
  });

  test("the model is told how programs call its tools", async () => {
    const { models } = await ran(["1"], [repeated]);
    const told = models.calls[0]!.tools?.find(({ name }) => name === "notebook")!.description;
    expect(told).toContain(
      'Runs Python. Programs can call your other tools with JSON values, such as tools["lookup"](word=...)',
    );
    const alone = await ran(["1"], []);
    expect(alone.models.calls[0]!.tools?.find(({ name }) => name === "notebook")!.description).toBe(
      "Runs Python.",
    );
  });

  test("a failed call is an exception, and a program that doesn't catch it fails with its message", async () => {
    const broken = lookup(() => {
      throw new ToolFailure(404, "No such word.");
    });
    const { gave } = await ran(
      [
        "try:\n    lookup('x')\nexcept ToolError as error:\n    print(error.status_code, error)",
        "lookup('x')",
        "lookup(7)",
        "lookup({1, 2})",
        "lookup('a', 1, 2)",
      ],
      [broken],
    );
    expect(gave[0]).toEqual({ output: "404 No such word.\n", result: null, first: FIRST });
    expect(gave[1]).toContain("ToolError: No such word.");
    expect(gave[1]).not.toContain("session.py");
    expect(gave[2]).toContain("ToolError: Invalid arguments for lookup");
    expect(gave[3]).toContain("TypeError: set is not JSON");
    expect(gave[4]).toContain("TypeError: lookup takes at most 2 arguments");
  });

  test("a program can't call tools that its role doesn't grant, itself, or tools that end the task", async () => {
    const { gave } = await ran(
      ["lookup('a')", "[name for name in ('finish', 'notebook', 'lookup') if name in tools]"],
      [repeated],
      { grants: ["notebook"] },
    );
    expect(gave).toEqual([expect.stringContaining("NameError"), { output: "", result: "[]" }]);
  });

  test("a call that needs approval waits for a person, and a rejection is an exception", async () => {
    const guarded = lookup(({ word }) => word, { risk: "HIGH", read_only: false });
    const approved = await ran(["lookup('a')"], [guarded], { agrees: true });
    expect(
      of(approved.events, "interaction_requested").map(({ tool_name, args }) => [tool_name, args]),
    ).toEqual([["lookup", { word: "a" }]]);
    expect(approved.gave).toEqual([{ output: "", result: "'a'", first: FIRST }]);

    const stage = newScriptedStage(
      [cell("kept = 1\nlookup('a')"), cell("kept"), { text: "done" }],
      [...notebook(), guarded],
    );
    const id = stage.start(graph, { roles: [role("Worker", ["notebook", "lookup"])] });
    for await (const frame of stage.host.follow(id, 0)) {
      if (frame.kind !== "events") continue;
      for (const event of frame.events)
        if (event.type === "interaction_requested") {
          const { interaction_id, fingerprint } = event.payload;
          stage.host.steering.answer(id, interaction_id, fingerprint, { answer: "reject", by: "ann" });
        }
    }
    const outputs = of(stage.store.events(id, 0, 1e6), "tool_call_completed").map(
      ({ output, error }) => output ?? error,
    );
    expect(outputs).toEqual([
      expect.stringContaining("ToolError: A person rejected this call"),
      { output: "", result: "1" },
    ]);
  });

  test("an untrusted result of a call taints the agent", async () => {
    const { events } = await ran(["lookup('a')"], [lookup(() => "hostile", { taints: true })]);
    expect(of(events, "agent_tainted")).toEqual([{ tool_name: "lookup" }]);
  });

  test("a program that never stops calling is ended", async () => {
    const { gave } = await ran(
      ["while True:\n    try:\n        lookup('a')\n    except Exception:\n        pass", "1"],
      [repeated],
    );
    expect(gave[0]).toContain("called tools more than 50 times");
    expect(gave[1]).toMatchObject({ first: FIRST });
  });

  test("a thread that outlives its program can't call tools", async () => {
    const slow = lookup(() => new Promise((resolve) => setTimeout(() => resolve("late"), 800)));
    const thread =
      "import threading, time\nseen = []\ndef later():\n    time.sleep(0.2)\n    try:\n        lookup('a')\n    except ToolError as error:\n        seen.append(str(error))\nthreading.Thread(target=later).start()";
    const stage = newScriptedStage(
      [cell(thread), calls(call("lookup", { word: "b" })), cell("seen"), { text: "done" }],
      [...notebook(), slow],
    );
    const { events } = await stage.run(graph, { roles: [role("Worker", ["notebook", "lookup"])] });
    expect(of(events, "tool_call_completed").at(-1)!.output).toMatchObject({
      result: "['lookup can only be called while a program runs']",
    });
    expect(stage.tools.calls.filter((line) => line.includes(" lookup "))).toEqual([
      'Worker lookup {"word":"b"}',
    ]);
  });

  test("after a crash during a call, that call is repeated and its program fails with an error", async () => {
    const seen: string[] = [];
    let holds = true;
    let begun = () => {};
    const reached = new Promise<void>((resolve) => (begun = resolve));
    const slow = defineTool({
      name: "lookup",
      description: "Looks a word up",
      input: Lookup,
      source: "custom",
      risk: "LOW",
      async execute({ word }) {
        seen.push(word);
        if (word === "b" && holds) {
          begun();
          await new Promise(() => {});
        }
        return word;
      },
    });
    const options = (steps: Parameters<typeof newScriptedModels>[0]) => ({
      tools: fakeTools([...notebook(), slow]),
      models: newScriptedModels(steps),
    });
    const first = newStage(options([cell("x = lookup('a')\ny = lookup('b')")]));
    const id = first.start(graph, { roles: [role("Worker", ["notebook", "lookup"])] });
    await reached;
    holds = false;
    const next = await killed(
      first,
      path.join(folder, "crash.db"),
      options([cell("lookup('c')"), { text: "done" }]),
    );
    await next.host.settled(id);
    expect(seen).toEqual(["a", "b", "b", "c"]);
    const completed = of(next.store.events(id, 0, 1e6), "tool_call_completed");
    expect(completed.map(({ tool_name, output, error }) => [tool_name, output ?? error])).toEqual([
      ["lookup", "a"],
      ["lookup", "b"],
      ["notebook", expect.stringContaining("its process was ended, and its variables are lost")],
      ["lookup", "c"],
      ["notebook", { output: "", result: "'c'", first: FIRST }],
    ]);
  });
});
