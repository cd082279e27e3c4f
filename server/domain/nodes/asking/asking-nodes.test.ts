import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import {
  addRoute,
  moveRoute,
  removeRoute,
  renameRoute,
  routerRoutes,
} from "@/server/domain/graph/router-routes";
import { findProblems } from "@/server/domain/problems/problems";
import { draw } from "@/server/domain/testing/drawing";

const gated = (config: JsonObject = {}) =>
  draw("start > gate; gate approved> end; gate rejected> end2", {
    gate: { id: "gate", node_type: "approval_gate", config },
  });
const form = (config: JsonObject) =>
  draw("start > ask > end", {
    ask: {
      id: "ask",
      node_type: "user_input",
      config: { schema: { type: "object", properties: { name: { type: "string" } } }, ...config },
    },
  });
const codesOf = (graph: ReturnType<typeof draw>) => findProblems(graph, []).map(({ code }) => code);

describe("gate problems on the canvas", () => {
  test("a gate with a connection for each option has no problems", () => {
    expect(codesOf(gated())).toEqual([]);
  });
  test.each<[string, JsonObject, string[]]>([
    [
      "an unconnected option",
      { options: ["approved", "rejected", "later"] },
      ["E_ROUTER_LABEL_WITHOUT_EDGE"],
    ],
    [
      "a duplicate option",
      { options: ["approved", "Approved", "rejected"] },
      ["E_GATE_OPTION_TWICE", "E_ROUTER_LABEL_WITHOUT_EDGE"],
    ],
    [
      "an unknown default response",
      { on_timeout: "default", default_response: "maybe" },
      ["E_QUESTION_TIMEOUT"],
    ],
    ["an unconnected timeout route", { on_timeout: "continue" }, ["E_ROUTER_LABEL_WITHOUT_EDGE"]],
  ])("a gate is invalid with %s", (_name, config, codes) => {
    expect(codesOf(gated(config))).toEqual(codes);
  });
});

test.each<[string, JsonObject, string]>([
  [
    "with mismatching default values",
    { on_timeout: "default", default_response: { name: 4 } },
    "E_QUESTION_TIMEOUT",
  ],
])("a form %s is invalid", (_name, config, code) => {
  expect(codesOf(form(config))).toEqual([code]);
});

test("a gate's options are edited like a router's routes, and its edges follow", () => {
  const optionsOf = (graph: ReturnType<typeof draw>) =>
    (graph.nodes.gate?.config as { options: string[] }).options;
  const added = addRoute(gated(), "gate", "later");
  expect(optionsOf(added)).toEqual(["approved", "rejected", "later"]);
  const renamed = renameRoute(added, "gate", "approved", "ship it");
  expect(renamed.edges.map(({ edge_label }) => edge_label)).toEqual([undefined, "ship it", "rejected"]);
  expect(optionsOf(moveRoute(renamed, "gate", 2, 0))).toEqual(["later", "ship it", "rejected"]);
  const removed = removeRoute(renamed, "gate", "rejected");
  expect([optionsOf(removed), removed.edges.length]).toEqual([["ship it", "later"], 2]);
  expect(routerRoutes(removed, "gate")?.routes.map(({ label, isOffered }) => [label, isOffered])).toEqual([
    ["ship it", true],
    ["later", true],
  ]);
});
