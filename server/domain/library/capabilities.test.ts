import { describe, expect, test } from "vitest";
import { findProblems } from "@/server/domain/problems/problems";
import { containing } from "@/server/domain/testing/containing";
import { draw } from "@/server/domain/testing/drawing";
import { capabilitiesAdded, capabilitiesOf } from "./capabilities";

const WEB = { node_type: "http_request", output_keys: ["page"] };

describe("workflow capabilities", () => {
  test("capabilities list tools, hosts, models, code and memory with the nodes that use them", () => {
    const graph = draw("start > read > ask > keep > sum > write > crew > end", {
      read: { ...WEB, config: { url: "https://api.example.com:8443/{{path}}?q=1" } },
      ask: { ...WEB, config: { method: "POST", url: "https://{{host}}/x" } },
      keep: { node_type: "tool_call", config: { tool_name: "store_memory", args: { scope: "global" } } },
      sum: { node_type: "code", config: { source: "return 1" } },
      write: {
        node_type: "agent_task",
        config: {
          required_role: "Writer",
          task_description_template: "go",
          tools: ["browse_url"],
          llm_config: { provider_id: "p1", model: "big" },
        },
      },
      crew: {
        node_type: "crew_task",
        config: {
          crew: {
            agents: [{ agent_id: "a", role_name: "Keeper", memory_scopes: ["run", "project"] }],
          },
        },
      },
    });
    const roles = [
      { name: "Writer", tools: ["browse_url", "file_read", "finish"] },
      { name: "Keeper", tools: ["retrieve_memory", "mcp:notes/*"] },
      { name: "Idle", tools: ["http_write"] },
    ];
    expect(capabilitiesOf(graph, roles)).toEqual([
      {
        key: "tool:browse_url",
        kind: "tool",
        name: "browse_url",
        where: [{ node_id: "write", role: "Writer" }],
      },
      { key: "tool:http_request", kind: "tool", name: "http_request", where: [{ node_id: "read" }] },
      { key: "tool:http_write", kind: "tool", name: "http_write", where: [{ node_id: "ask" }] },
      {
        key: "tool:mcp:notes/*",
        kind: "tool",
        name: "mcp:notes/*",
        where: [{ node_id: "crew", role: "Keeper" }],
      },
      {
        key: "tool:retrieve_memory",
        kind: "tool",
        name: "retrieve_memory",
        where: [{ node_id: "crew", role: "Keeper" }],
      },
      { key: "tool:store_memory", kind: "tool", name: "store_memory", where: [{ node_id: "keep" }] },
      { key: "host:*", kind: "host", name: "*", where: [{ node_id: "ask" }] },
      {
        key: "host:api.example.com:8443",
        kind: "host",
        name: "api.example.com:8443",
        where: [{ node_id: "read" }],
      },
      { key: "model:p1/big", kind: "model", name: "p1/big", where: [{ node_id: "write" }] },
      { key: "code:sum", kind: "code", name: "sum", detail: "return 1", where: [{ node_id: "sum" }] },
      { key: "memory:global", kind: "memory", name: "global", where: [{ node_id: "keep" }] },
      {
        key: "memory:project",
        kind: "memory",
        name: "project",
        where: [{ node_id: "crew", role: "Keeper" }],
      },
    ]);
  });

  test("a host that a value can change counts as any host, however the URL is disguised", () => {
    const hosts = (url: unknown) =>
      capabilitiesOf(
        draw("start > a > end", {
          a: { node_type: "tool_call", config: { tool_name: "browse_url", args: { url: url as never } } },
        }),
        [],
      ).flatMap(({ kind, name }) => (kind === "host" ? [name] : []));
    expect(hosts("https://fine.example/x")).toEqual(["fine.example"]);
    expect(hosts("https://good@evil.example/x")).toEqual(["evil.example"]);
    for (const any of [
      { $expr: "state.url" },
      { $template: "https://{{ a }}.example" },
      { $template: "{{ a }}" },
      "//evil.example",
      "https:/\\evil.example",
      "",
    ])
      expect(hosts(any)).toEqual(["*"]);
    expect(hosts({ $template: "https://fine.example/{{ a }}" })).toEqual(["fine.example"]);
  });

  test("capabilities added by a version include new keys and changed code", () => {
    const of = (source: string, more = "") =>
      capabilitiesOf(
        draw(`start > a > end${more}`, {
          a: { node_type: "code", config: { source } },
          ...(more ? { b: { ...WEB, config: { url: "https://b.example" } } } : {}),
        }),
        [],
      );
    expect(capabilitiesAdded(of("1"), of("1"))).toEqual([]);
    expect(capabilitiesAdded(of("1"), of("2")).map(({ key }) => key)).toEqual(["code:a"]);
    expect(capabilitiesAdded(of("1"), of("1", "; start > b > end")).map(({ key }) => key)).toEqual([
      "tool:http_request",
      "host:b.example",
    ]);
  });

  test("a withheld capability is an error at each node that needs it", () => {
    const graph = draw("start > a > b > end", {
      a: { ...WEB, config: { url: "https://a.example" } },
      b: { node_type: "agent_task", config: { required_role: "Writer", task_description_template: "go" } },
    });
    const roles = [{ name: "Writer", tools: ["http_request"] }];
    const found = (withheld: string[]) =>
      findProblems(graph, roles, undefined, { withheld }).filter(({ code }) => code === "E_NOT_ALLOWED");
    expect(found([])).toEqual([]);
    expect(found(["tool:gone"])).toEqual([]);
    const fix = { kind: "allow", key: "tool:http_request", label: "Allow" };
    expect(found(["tool:http_request"])).toMatchObject([
      { severity: "error", at: { kind: "node", id: "a" }, fix },
      { severity: "error", at: { kind: "node", id: "b" }, message: containing("as Writer"), fix },
    ]);
  });
});
