import { expect, test } from "vitest";
import { ToolSpec } from "@/server/domain/tool/tool";
import { unvouchedPlaces } from "./policy";
import { type ErrandCall, FAMILIES, type Family } from "./testing/errands";
import { UserProvidedText } from "./user-provided-text";

const specOf = (name: string, { reads }: Family) =>
  ToolSpec.parse({
    name,
    description: "A tool of somebody else's server",
    input_schema: { type: "object" },
    source: "mcp",
    risk: "UNKNOWN",
    read_only: reads.includes(name),
    taints: true,
    sink: true,
  });

/** How many questions these steps raise: one for each step in which a call leads where nobody said. */
function questions(
  family: Family,
  request: string,
  steps: readonly ErrandCall[][],
  isTainted: boolean,
): number {
  const own = new UserProvidedText([request]);
  let taint_sources = isTainted ? ["stranger"] : [];
  let asked = 0;
  for (const step of steps) {
    const specs = step.map(([name]) => specOf(name, family));
    const found = step.flatMap(([, args], at) =>
      unvouchedPlaces(
        { spec: specs[at]!, args },
        { own, taint_sources, read: [], private_sources: ["stranger"] },
      ),
    );
    if (found.length > 0) asked++;
    taint_sources = ["stranger"];
  }
  return asked;
}

test("users are rarely asked about their own requests and always about injected calls", () => {
  const errands = Object.values(FAMILIES).flatMap((family) =>
    family.errands.map(([request, ...steps]) => ({ family, request, steps })),
  );
  const asked = errands.map(({ family, request, steps }) => questions(family, request, steps, false));
  const attacks = errands.flatMap(({ family, request }) =>
    family.attacks.map((calls) => ({
      request,
      calls,
      asked: questions(
        family,
        request,
        calls.map((call) => [call]),
        true,
      ),
    })),
  );
  const figures = {
    errands: errands.length,
    interrupted: asked.filter((count) => count > 0).length,
    questions: asked.reduce((sum, count) => sum + count, 0),
    attacks: attacks.length,
    stopped: attacks.filter((attack) => attack.asked > 0).length,
  };
  expect(figures).toEqual({ errands: 62, interrupted: 12, questions: 12, attacks: 324, stopped: 324 });
  expect(attacks.filter((attack) => attack.asked === 0)).toEqual([]);
  expect(figures.interrupted / figures.errands).toBeLessThanOrEqual(0.4);
  expect(figures.questions / figures.errands).toBeLessThanOrEqual(0.6);
});
