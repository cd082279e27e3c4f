import { expect, test } from "vitest";
import { RunConfig, USUAL_CONFIRMATION } from "@/server/domain/agent/outcome";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import { foreign } from "./foreign";

const never = { kind: "never" } as const;
const role = RoleDefinition.parse({ name: "Clerk", tools: ["http_write"] });
const silent = () => ({
  graph: { ...draw("start > end", {}), config: RunConfig.parse({ confirmation: never }) },
  roles: [{ ...role, confirmation: never }],
  findings: [],
});

test("a file that disables confirmation runs with confirmation and says so", () => {
  const { graph, roles, findings } = foreign(silent(), { yes: false, config: {} });
  expect(graph.config.confirmation).toEqual(USUAL_CONFIRMATION);
  expect(roles).toEqual([role]);
  expect(findings).toEqual([
    {
      level: "changed",
      at: "config.confirmation",
      message:
        'The file sets the confirmation of runs to "never". Here, it is "before tool calls of high risk", unless --yes or --config changes it.',
    },
    {
      level: "changed",
      at: "roles.Clerk.confirmation",
      message:
        'The file sets this role\'s confirmation to "never". Here, it is "according to the run\'s policy".',
    },
  ]);
});

test("command line settings take effect: --yes for the file, --config for the run", () => {
  expect(foreign(silent(), { yes: true, config: {} })).toEqual(silent());
  const { graph, roles } = foreign(silent(), { yes: false, config: { confirmation: never } });
  expect([graph, roles]).toEqual([silent().graph, [role]]);
});
