import { randomBytes } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callWorkflow } from "./cli/testing";
import { must, present } from "./domain/base/must";
import { draw } from "./domain/testing/drawing";
import { ENDPOINTS } from "./http-api/table";
import { newApi } from "./http-api/testing";
import { readSettings, settingsTable } from "./settings";
import { parseOperatorFile } from "./tools/operator/file";

// Commands in the README and the docs work as described, and everything they mention exists.

const root = path.resolve(import.meta.dirname, "..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const readme = read("README.md");
/** Pages for users. */
const pages = [
  "README.md",
  ...readdirSync(path.join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
/** Documents whose links are checked. */
const linked = [
  ...pages,
  ...[
    "examples/README",
    "AGENTS",
    "SECURITY",
    "CONTRIBUTING",
    "ARCHITECTURE",
    "GLOSSARY",
    "CHANGELOG",
    "changes/README",
  ].map((name) => `${name}.md`),
  ...readdirSync(path.join(root, "docs/decisions")).map((name) => `docs/decisions/${name}`),
];
/** The code blocks of a document in this language. */
const blocks = (text: string, language = "") =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, named]) => named === language)
    .map(([, , block = ""]) => block);
const all = pages.map(read).join("\n");
const lines = [
  ...new Set(blocks(all).flatMap((block) => block.split("\n").map((line) => line.replace(/\s{2,}#.*$/, "")))),
];
/** Text in code blocks and between backticks: what a reader might type. */
const typed = [...lines, ...[...all.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code)];

const WORKFLOW = read("e2e/fixtures/simple-approval-workflow.json");
/** A crew whose task waits for a person before it starts. */
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

test("the README is short and shows early how to start Troupe", () => {
  const words = readme.split(/\s+/).filter((word) => word !== "");
  expect(words.length).toBeLessThanOrEqual(700);
  expect(words.slice(0, 60).join(" ")).toContain("npm start");
});

test("each file in changes/ has a kind and one sentence of at most 25 words", () => {
  const files = readdirSync(path.join(root, "changes")).filter((name) => name !== "README.md");
  for (const file of files) {
    const [kind = "", ...sentence] = read(`changes/${file}`).trim().split("\n");
    expect(["Added", "Changed", "Fixed", "Removed", "Security"], file).toContain(kind);
    expect(sentence.join(" "), file).toMatch(/^(?:\S+ ){0,24}\S+\.$/);
  }
});

describe("links in the docs", () => {
  /** The anchors that GitHub generates for headings. */
  const anchorsOf = (text: string) =>
    [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    );

  test.each(linked)("all links in %s resolve", (page) => {
    const text = read(page);
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)]
      .map(([, link, picture]) => link ?? picture ?? "")
      .filter((link) => !/^(https?|mailto):/.test(link));
    const broken = targets.filter((link) => {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? page : path.join(path.dirname(page), file);
      if (!existsSync(path.join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test("the README and the index link to every page of the docs", () => {
    const names = pages.filter((page) => page.startsWith("docs/") && page !== "docs/README.md");
    expect(names.filter((page) => !readme.includes(`(${page})`))).toEqual([]);
    const index = read("docs/README.md");
    expect(names.filter((page) => !index.includes(`(${path.basename(page)})`))).toEqual([]);
  });
});

test("all source files named in the docs exist", () => {
  const sources = [
    "app",
    "components",
    "db",
    "e2e",
    "bench",
    "examples",
    "packages",
    "scripts",
    "server",
  ].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => !name.includes("node_modules"))
      .map((name) => `/${folder}/${name.split(path.sep).join("/")}`),
  );
  const notes = sources.filter((file) => file.endsWith("/README.md")).map((file) => file.slice(1));
  const missing = [...linked, ...notes].flatMap((page) =>
    [...read(page).matchAll(/`([\w./@[\]-]+\.(?:tsx?|mjs|css))`/g)]
      .map(([, name = ""]) => name.replace(/^(\.\.?\/)+/, ""))
      .filter(
        (name) => !sources.some((file) => file.endsWith(`/${name}`)) && !existsSync(path.join(root, name)),
      )
      .map((name) => `${page}: ${name}`),
  );
  // A reader writes the first, `npm run pack` the second.
  expect(missing).toEqual([
    "docs/extending.md: server/domain/nodes/shout.ts",
    "server/interop/import/README.md: cli/import-worker.mjs",
  ]);
});

test("all commands named in the docs exist", async () => {
  const scripts = (JSON.parse(read("package.json")) as { scripts: object }).scripts;
  const named = typed.flatMap((line) =>
    [...line.matchAll(/\bnpm (?:run )?(?!run\b)(\w[\w:]*)/g)].map(([, name = ""]) => name),
  );
  expect(named).toContain("worker");
  expect(named.filter((name) => name !== "install" && !Object.hasOwn(scripts, name))).toEqual([]);
  const files = typed.flatMap((line) =>
    [...line.matchAll(/\bnode (\S+\.mjs)/g)].map(([, file = ""]) => file),
  );
  expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  const program = read("scripts/troupe.mjs");
  const commands = typed.flatMap((line) =>
    [...line.matchAll(/(?:^|troupe )troupe ([a-z]+)\b/g)].map(([, name = ""]) => name),
  );
  expect(commands).toContain("restore");
  expect(commands.filter((name) => !program.includes(`troupe ${name}`) && name !== "start")).toEqual([]);
});

/** Sections of docs/cli.md about one command, or about commands with the same options. */
const SECTIONS = new Map([
  ["Run tests", "test"],
  ["Import", "import"],
  ["Deploy", "deploy"],
  ["Control a running server", "pause"],
]);

test("all options of `npm run workflow` in the docs are in the help of their command", async () => {
  const help = new Map<string, string>();
  const helpOf = async (command: string) => {
    if (!help.has(command)) {
      const { out, err } = await callWorkflow([...(command ? [command] : []), "--help"], folder);
      help.set(command, out + err);
    }
    return help.get(command) ?? "";
  };
  const cli = read("docs/cli.md");
  const named: [command: string, option: string][] = [];
  let section = "";
  for (const line of cli.split("\n")) {
    if (line.startsWith("## ")) section = SECTIONS.get(line.slice(3)) ?? "";
    const command = /npm run workflow -- ([a-z]+) /.exec(line)?.[1] ?? section;
    for (const [, option = ""] of line.matchAll(/(?<=[\s`])(--[a-z][a-z-]+)/g)) named.push([command, option]);
  }
  expect(named.length).toBeGreaterThan(20);
  const missing: string[] = [];
  // --silent is an option of npm.
  for (const [command, option] of named)
    if (option !== "--silent" && option !== "--help" && !(await helpOf(command)).includes(option))
      missing.push(`${command} ${option}`);
  expect(missing).toEqual([]);
});

test("all environment variables named in the docs are settings", () => {
  const known = new Set(settingsTable().map(({ name }) => name));
  const named = [...all.matchAll(/\b(?:TROUPE|OPENAI|LLM)_[A-Z_]+\b/g)].map(([name]) => name);
  // TROUPE_URL is a setting of the command line, not of the server.
  expect([...new Set(named)].filter((name) => !known.has(name) && name !== "TROUPE_URL")).toEqual([]);
});

test("all requests named in the docs are endpoints", () => {
  const known = new Set(ENDPOINTS.map(({ method, path: where }) => `${method} ${where}`));
  const named = typed.flatMap((code) =>
    [...code.matchAll(/^(GET|POST|PUT|DELETE) (?:\/api\/v1)?(\/\S*)$/g)].map(
      ([, method, where]) => `${method} ${where}`,
    ),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("all settings in documented commands exist and have valid values", () => {
  const known = new Set(settingsTable().map(({ name }) => name));
  const set = lines.flatMap((line) =>
    [...line.matchAll(/\b(TROUPE_\w+)=(\$\([^)]*\)|(?!\.\.\.)\S+)/g)].map(
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

describe("documented terminal commands", () => {
  const shown = lines
    .filter((line) => line.startsWith("npm run workflow -- "))
    .map((line) => line.slice("npm run workflow -- ".length));

  test("the docs show how to run, import and test", () => {
    expect(shown.map((line) => line.split(" ")[0]).sort()).toEqual(["import", "my-workflow.json", "test"]);
  });

  test.each(shown)("the documented command runs: %s", async (line) => {
    const asked = { input: { user_request: "Please approve my vacation for next week." } };
    const ends = {
      id: "ends",
      name: "It ends well",
      input: asked.input,
      expect: [{ kind: "status", is: "COMPLETED" }],
    };
    const file = { troupe: 1, name: "Mine", workflow: JSON.parse(WORKFLOW) as object, tests: [ends] };
    writeFileSync(path.join(folder, "my-workflow.json"), JSON.stringify(file));
    mkdirSync(path.join(folder, "path/to/a/crew"), { recursive: true });
    cpSync(
      path.join(root, "e2e/fixtures/simple-approval-workflow.json"),
      path.join(folder, "path/to/a/crew/flow.json"),
    );
    const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
    const { code, out, err } = await callWorkflow(args, folder);
    expect(code, `${out}${err}`).toBe(0);
  });
});

describe("documented API requests", () => {
  const [block = ""] = blocks(read("docs/http-api.md")).filter((text) => text.includes("$API/workflows"));
  /** Its requests, each with the documented response. */
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

  test("the documented requests start a run from a file and answer its question", async () => {
    const api = newApi(() => "done");
    api.roles.create({
      ...must(api.roles.list(), 0).role,
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
      const responseBody = await response.json();
      if (target === "/questions") question = responseBody.questions[0];
      ids.push(...Object.values(responseBody).filter((value) => typeof value === "string"));
      for (const [, key = ""] of (answer ?? "").matchAll(/"(\w+)":/g))
        expect(Object.keys({ ...responseBody, ...question }), `${target} answers with ${key}`).toContain(key);
    }
  });
});

test("the operator files in the docs are valid", () => {
  const [example = ""] = blocks(read("docs/extending.md"), "yaml");
  expect(parseOperatorFile(example, { file: "tools.yaml", folder }).tools).toHaveLength(1);
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
