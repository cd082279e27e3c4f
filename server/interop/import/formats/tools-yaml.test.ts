import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseOperatorFile } from "@/server/tools/operator/file";
import { readImport } from "../pipeline";
import { FIXTURES, files, fixtureFiles } from "../testing";

const declared = (list: "tools" | "mcp_servers", ...snippets: (string | undefined)[]) =>
  parseOperatorFile(`${list}:\n${snippets.join("")}`, { file: "tools.yaml", folder: "/" })[list];

/** Its role's tools, and its findings by place. */
function read(texts: Record<string, string>) {
  const { imported, findings } = readImport(files(texts));
  return {
    roles: imported?.roles.map(({ name, tools }) => [name, tools]),
    at: (place: string) => findings.find(({ at }) => at === place)!,
    findings,
  };
}

describe("a list of tools", () => {
  const TOOLS = `tools:
  - {name: web_search, type: builtin, config: {}}
  - {name: custom_analyzer, type: custom, path: ./tools/analyzer.py, function: analyze_code, description: Reads code,
     parameters: {type: object, properties: {text: {type: string, default: hunter22}}, required: [text]}}
  - {name: external_api, type: mcp, server_url: "http://me:hunter22@localhost:8080/mcp?key=hunter22"}
  - {name: ask the boss, type: hitl, config: {timeout: 3600}}
  - {name: escalation, type: hitl}
  - {name: teleport, type: builtin}
`;

  test("one role gets its tools, and each program and server comes with what the admin can add", () => {
    const { roles, at, findings } = read({ "tools.yaml": TOOLS });
    expect(roles).toEqual([
      [
        "Tool user",
        ["web_search", "custom_analyzer", "mcp:external_api/*", "request_approval", "escalate_to_human"],
      ],
    ]);
    expect(declared("tools", at("tools.1").snippet)).toMatchObject([
      {
        name: "custom_analyzer",
        type: "python",
        path: "./tools/analyzer.py",
        function: "analyze_code",
        description: "Reads code",
        input: { properties: { text: { type: "string" } }, required: ["text"] },
        risk: "HIGH",
      },
    ]);
    expect(at("tools.1").line).toBe(3);
    expect(at("tools.2").snippet).toBe(
      "name: external_api\nurl: http://localhost:8080/mcp\nTROUPE_MCP_ALLOWED_HOSTS=localhost:8080",
    );
    expect(at("tools.5").message).toBe('There is no tool "teleport" here.');
    expect(JSON.stringify(findings)).not.toContain("hunter22");
  });

  test("commands, containers, functions by name and server processes become entries without values", () => {
    const { at } = read({
      "tools.json": JSON.stringify({
        tools: [
          {
            name: "convert",
            type: "custom",
            command: "convert --to pdf --token=hunter22",
            env: { A_KEY: "hunter22" },
          },
          { name: "box", type: "custom", image: "registry.example/box:1", args: ["--api-key", "hunter22"] },
          { name: "web search", type: "python_function", source: "agentx.tools.web.search" },
          { name: "shell", type: "custom", command: "a | b" },
          {
            name: "files",
            type: "mcp",
            command: "npx",
            args: ["-y", "files"],
            env: { SOME_TOKEN: "hunter22" },
          },
        ],
      }),
    });
    expect(
      declared("tools", at("tools.0").snippet, at("tools.1").snippet, at("tools.2").snippet),
    ).toMatchObject([
      { type: "script", command: ["convert", "--to", "pdf", "--token=[hidden]"], env: ["A_KEY"] },
      { type: "docker", image: "registry.example/box:1", args: ["--api-key", "[hidden]"] },
      { name: "web_search", type: "python", path: "./agentx/tools/web.py", function: "search" },
    ]);
    expect(at("tools.3").snippet).toBeUndefined();
    expect(at("tools.3").message).toContain("operator/README.md");
    expect(declared("mcp_servers", at("tools.4").snippet)).toMatchObject([
      { name: "files", command: "npx", args: ["-y", "files"] },
    ]);
    expect(at("tools.4").snippet).toContain("SOME_TOKEN");
  });
});

const PLUGIN = `name: find_peaks
enabled: false
description: Finds peaks.
examples: peaks = find_peaks(df, 3)
parameters:
  - {name: df, type: pandas.DataFrame, required: true, description: The data}
  - {name: limit, type: int, required: false}
returns:
  - {name: peaks, type: list, description: The peaks}
configurations: {api_key: hunter22hunter22, api_base: x}
`;

describe("TaskWeaver plugins", () => {
  test("a plugin becomes a tool to declare under its name, never code", () => {
    const { roles, at, findings } = read({ "find_peaks.yaml": PLUGIN });
    expect(roles).toEqual([["Tool user", ["find_peaks"]]]);
    expect(declared("tools", at("name").snippet)).toMatchObject([
      {
        name: "find_peaks",
        type: "python",
        description: "Finds peaks.\nReturns peaks (list): The peaks\nExample: peaks = find_peaks(df, 3)",
        input: {
          properties: {
            df: { type: "array", items: { type: "object" }, description: "The data" },
            limit: { type: "integer" },
          },
          required: ["df"],
        },
      },
    ]);
    expect(at("configurations").message).toContain("api_key, api_base");
    expect(at("enabled").message).toContain("disabled");
    expect(JSON.stringify(findings)).not.toContain("hunter22");
  });

  test("plugins of a folder come in together, and a role that names one keeps the name", () => {
    const { roles } = read({ "a.yaml": PLUGIN, "b.yaml": PLUGIN.replace("find_peaks", "find_dips") });
    expect(roles).toEqual([["Tool user", ["find_peaks", "find_dips"]]]);
    const own = read({ "role.yaml": "name: Analyst\ngoals: [Find peaks]\ntools: [find_peaks]\n" });
    expect(own.roles).toEqual([["Analyst", ["find_peaks"]]]);
  });

  test.runIf(existsSync(FIXTURES))("the plugins that come with TaskWeaver can be declared", () => {
    const plugins = fixtureFiles("taskweaver").filter(({ path }) => path.includes(".plugin."));
    const { imported, findings } = readImport(plugins);
    expect(imported?.roles[0]?.tools.toSorted()).toEqual(["anomaly_detection", "sql_pull_data"]);
    const snippets = findings.flatMap(({ snippet }) => snippet ?? []);
    expect(declared("tools", ...snippets)).toHaveLength(2);
  });
});
