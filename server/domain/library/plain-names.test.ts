import { expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { Findings } from "@/server/domain/base/lenient-reader";
import { plainName } from "@/server/domain/base/names";
import { readWorkflow } from "@/server/domain/graph/document/document";
import { withPlainNames } from "./plain-names";

function readPlainly(file: unknown) {
  const findings = new Findings();
  return { ...withPlainNames(readWorkflow(file), findings), findings: findings.all() };
}

const TURNED = "Delete\u202e llA\u202c";

test("a plain name drops bidi overrides, control characters and lone surrogates", () => {
  expect(plainName(`${TURNED} \u2066x\u2069 \ud83d`)).toBe("Delete llA x \ufffd");
  expect(plainName("\u0007Delete\u001b[2J\u0000 all")).toBe("Delete[2J all");
  for (const fine of ["Prüfer 👩‍🔬", "مراجع", "\u200fعقد", "a\u200db"]) expect(plainName(fine)).toBe(fine);
});

test("importing removes hidden characters from names, keeps role references and reports it", () => {
  const { name, graph, roles, findings } = readPlainly({
    troupe: 1,
    name: TURNED,
    workflow: {
      graph_id: "turned",
      nodes: {
        ask: {
          node_type: "agent_task",
          name: TURNED,
          config: { required_role: TURNED, task_description_template: TURNED },
        },
      },
      edges: [],
    },
    roles: [{ name: TURNED, description: TURNED }],
  });
  expect([name, graph?.nodes.ask, roles]).toMatchObject([
    "Delete llA",
    { name: "Delete llA", config: { required_role: "Delete llA", task_description_template: TURNED } },
    [RoleDefinition.parse({ name: "Delete llA", description: TURNED })],
  ]);
  expect(findings).toEqual(
    ["name", "nodes.ask.name", "roles"].map((at) => ({
      level: "changed",
      at,
      message: 'Removed hidden characters from the name "Delete llA".',
    })),
  );
});

test("a role with a disguised name doesn't replace the role that has that name", () => {
  const { roles } = readPlainly({
    graph_id: "twice",
    nodes: {},
    edges: [],
    roles: [{ name: "Clerk\u202e", description: "false" }, { name: "Clerk" }, { name: "\u202e" }],
  });
  expect(roles.map((role) => [role.name, role.description])).toEqual([
    ["Clerk", ""],
    ["Unnamed", ""],
  ]);
});
