import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtinRoles, findBuiltinRole } from "@/server/domain/agent/builtin-roles";
import { CrewConfig, CrewProcess } from "@/server/domain/crew/crew";
import { templates } from "@/server/templates";
import { estimateCrew, estimateRun, totalOf } from "./estimate";

const crew = fc
  .record({
    process: fc.constantFrom(...CrewProcess.options),
    members: fc.integer({ min: 2, max: 7 }),
    max_rounds: fc.integer({ min: 1, max: 30 }),
    samples: fc.integer({ min: 2, max: 15 }),
  })
  .map(({ members, ...rest }) =>
    CrewConfig.parse({
      ...rest,
      agents: Array.from({ length: members }, (_, at) => ({
        agent_id: `a${at}`,
        role_name: builtinRoles[at % builtinRoles.length]!.name,
      })),
    }),
  );

describe("what a run will roughly take", () => {
  test("is a range of at least one call, its least never above its most", () => {
    fc.assert(
      fc.property(crew, (one) => {
        const { calls, input_tokens, output_tokens, basis } = estimateCrew(one, undefined, findBuiltinRole);
        expect(calls[0]).toBeGreaterThan(0);
        for (const [least, most] of [calls, input_tokens, output_tokens])
          expect(least).toBeLessThanOrEqual(most);
        expect(basis).not.toBe("");
      }),
    );
  });

  test("grows with the samples and with the rounds of a vote", () => {
    const of = (more: object) =>
      estimateCrew(
        CrewConfig.parse({ agents: [{ agent_id: "a", role_name: "Writer" }], ...more }),
        undefined,
        findBuiltinRole,
      ).calls[1];
    expect(of({ process: "sample", samples: 9 })).toBeGreaterThan(of({ process: "sample", samples: 3 }));
    expect(of({ process: "consensus", consensus: { rounds: 4 } })).toBeGreaterThan(
      of({ process: "consensus", consensus: { rounds: 1 } }),
    );
  });

  test("names every node of a template that asks a model", () => {
    for (const { graph } of templates) {
      const parts = estimateRun(graph, findBuiltinRole);
      expect(parts.map(({ node_id }) => node_id)).toEqual(
        Object.values(graph.nodes).flatMap(({ id, node_type }) => (/_task$/.test(node_type) ? [id] : [])),
      );
      expect(totalOf(parts).calls[0]).toBeGreaterThan(0);
    }
  });
});
