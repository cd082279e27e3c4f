import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { isSameJson } from "@/server/domain/base/json";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { findProblems } from "@/server/domain/problems/problems";
import { findTemplate, templates } from ".";

describe("templates", () => {
  test.each(templates.map((template) => [template.key, template] as const))(
    "the template %s has no problems",
    (_key, template) => {
      expect(findProblems(template.graph, builtinRoles)).toEqual([]);
    },
  );

  test("each template is a complete graph with its own key and cards that don't overlap", () => {
    expect(new Set(templates.map(({ key }) => key)).size).toBe(templates.length);
    for (const { graph, key } of templates) {
      expect(isSameJson(WorkflowGraph.parse(graph), graph)).toBe(true);
      expect(findTemplate(key)?.graph).toBe(graph);
      const places = Object.values(graph.nodes).map(({ ui }) => ui!);
      for (const [i, a] of places.entries())
        for (const b of places.slice(i + 1))
          expect(Math.abs(a.x - b.x) >= 208 + 40 || Math.abs(a.y - b.y) >= 74 + 54).toBe(true);
    }
  });
});
