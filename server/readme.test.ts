import { randomBytes } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callWorkflow } from "./cli/testing";
import { present } from "./domain/base/must";
import { draw } from "./domain/testing/drawing";
import { newApi } from "./http-api/testing";
import { readSettings, settingsTable } from "./settings";
import { parseOperatorFile } from "./tools/operator/file";

// What the README and the rooms' notes show to type in does what they say.

const root = path.resolve(import.meta.dirname, "..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const readme = read("README.md");
/** The texts of a document's code blocks; `language`: only those that name it. */
const blocks = (text: string, language = "") =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, named]) => named === language)
    .map(([, , block = ""]) => block);
const lines = blocks(readme).flatMap((block) =>
  block.split("\n").map((line) => line.replace(/\s{2,}#.*$/, "")),
);

const WORKFLOW = read("e2e/fixtures/simple-approval-workflow.json");
/** A crew whose task waits for a person before it begins. */
const ASKING = draw("start > crew > end", {
  crew: {
    node_type: "crew_task",
    output_keys: ["result"],
    config: {
      crew: { process: "sequential", agents: [{ agent_id: "ann", role_name: "Writer" }] },
      plan: {
        execution_mode: "step",
        tasks: [{ task_id: "first", description: "do first", assigned_agent: "ann" }],
      },
    },
  },
});
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "troupe-readme-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("every command that it names is there", () => {
  const scripts = (JSON.parse(read("package.json")) as { scripts: object }).scripts;
  const named = lines.flatMap((line) =>
    [...line.matchAll(/npm (?:run )?(\w+)/g)].map(([, name = ""]) => name),
  );
  expect(named).toContain("worker");
  expect(named.filter((name) => name !== "install" && !Object.hasOwn(scripts, name))).toEqual([]);
});

test("every setting in its commands is one, with a value that is taken", () => {
  const known = new Set(settingsTable().map(({ name }) => name));
  const set = lines.flatMap((line) =>
    [...line.matchAll(/\b(TROUPE_\w+)=(\$\([^)]*\)|\S+)/g)].map(
      ([, name = "", value = ""]) => [name, value] as const,
    ),
  );
  expect(set.length).toBeGreaterThan(3);
  const made: Record<string, string> = {
    "-base64": randomBytes(32).toString("base64"),
    "-hex": "ab".repeat(32),
  };
  const valueOf = (value: string) => made[/-(?:base64|hex)/.exec(value)?.[0] ?? ""] ?? value;
  expect(set.filter(([name]) => !known.has(name))).toEqual([]);
  const env = Object.fromEntries(set.map(([name, value]) => [name, valueOf(value)]));
  expect(readSettings(env)).toMatchObject({ TROUPE_ENGINE: "restate" });
});

describe("in the terminal", () => {
  const shown = lines
    .filter((line) => line.startsWith("npm run workflow -- "))
    .map((line) => line.slice("npm run workflow -- ".length));

  test("it shows how to run, import, test and compare", () => {
    expect(shown.map((line) => line.split(" ")[0])).toEqual([
      "my-workflow.json",
      "import",
      "test",
      "compare",
    ]);
  });

  test.each(shown)("%s", async (line) => {
    const asked = { input: { user_request: "Please approve my vacation for next week." } };
    const ends = {
      id: "ends",
      name: "It ends well",
      input: asked.input,
      expect: [{ kind: "status", is: "COMPLETED" }],
    };
    const file = { troupe: 1, name: "Mine", workflow: JSON.parse(WORKFLOW) as object, tests: [ends] };
    writeFileSync(path.join(folder, "my-workflow.json"), JSON.stringify(file));
    writeFileSync(
      path.join(folder, "variants.json"),
      JSON.stringify({ variants: [{ name: "as it is" }, { name: "again" }], inputs: [asked] }),
    );
    mkdirSync(path.join(folder, "path/to/a/crew"), { recursive: true });
    cpSync(
      path.join(root, "e2e/fixtures/simple-approval-workflow.json"),
      path.join(folder, "path/to/a/crew/flow.json"),
    );
    const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
    const { code, out, told } = await callWorkflow(args, folder);
    expect(code, `${out}${told}`).toBe(0);
  });
});

describe("over the API", () => {
  const [block = ""] = blocks(readme).filter((text) => text.includes("$API/workflows"));
  /** Its requests, each with what it says is answered. */
  const requests = block
    .replaceAll(/\\\n\s*/g, "")
    .split(/^(?=curl )/m)
    .slice(1)
    .map((text) => ({
      path: /\$API(\S*)/.exec(text)?.[1] ?? "",
      data: /--data (?:'([^']*)'|@(\S+))/.exec(text),
      headers: [...text.matchAll(/-H "([\w-]+): ([^"]*)"/g)].map(
        ([, name = "", value = ""]) => [name.toLowerCase(), value] as const,
      ),
      answer: /^# (\{.*\})$/m.exec(text)?.[1],
    }));

  test("its requests lead from a file to a run, its question and its answer, and are answered as shown", async () => {
    const api = newApi(() => "done");
    api.roles.create({
      ...present(api.roles.list()[0], "a role").role,
      name: "Writer",
      tools: [],
      guardrails: [],
    });
    const ids: string[] = [];
    let question: Record<string, string> = {};
    expect(requests.map(({ path: where }) => where)).toEqual([
      "/workflows",
      "/workflows/wf_.../runs",
      "/runs/run_...",
      "/runs/run_.../events",
      "/questions",
      "/runs/run_.../answers",
    ]);
    for (const { path: where, data, headers, answer } of requests) {
      const target = where.replace(/(wf|run)_\.\.\./g, (_, kind: string) =>
        present(
          ids.find((id) => id.startsWith(kind)),
          kind,
        ),
      );
      const filled = data?.[1]?.replace(
        /"(\w+)": "\.\.\."/g,
        (_, key: string) => `"${key}": "${question[key]}"`,
      );
      const body = data?.[2] ? JSON.stringify(ASKING) : filled;
      const own = Object.fromEntries(headers.filter(([name]) => name !== "authorization"));
      if (target === "/questions")
        await expect
          .poll(async () => (await api.ask("GET", target)).body.questions.length, { timeout: 10_000 })
          .toBe(1);
      const response = await api.send(body === undefined ? "GET" : "POST", target, body, own);
      expect([target, response.status]).toEqual([
        target,
        response.status < 300 ? response.status : "less than 300",
      ]);
      if (own.accept) {
        expect(response.headers.get("content-type")).toContain(own.accept);
        await response.body?.cancel();
        continue;
      }
      const said = await response.json();
      if (target === "/questions") question = said.questions[0];
      ids.push(...Object.values(said).filter((value) => typeof value === "string"));
      for (const [, key = ""] of (answer ?? "").matchAll(/"(\w+)":/g))
        expect(Object.keys({ ...said, ...question }), `${target} answers with ${key}`).toContain(key);
    }
  });
});

test("the notes on the operator's tools show files that are read", () => {
  const shown = blocks(read("server/tools/operator/README.md"), "yaml");
  const files = shown.map((text) => parseOperatorFile(text, { file: "tools.yaml", folder }));
  expect(
    files.map(({ tools, mcp_servers, mcp_tools }) => [
      tools.length,
      mcp_servers.length,
      Object.keys(mcp_tools).length,
    ]),
  ).toEqual([
    [6, 1, 0],
    [0, 0, 2],
  ]);
});
