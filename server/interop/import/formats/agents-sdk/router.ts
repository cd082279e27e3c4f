import type { Expr, Place } from "../../code/program";
import type { Ground } from "./ground";

/** The way that is taken where no condition holds. */
export const OTHERWISE = "otherwise";

/** A router with these ways and one for anything else; conditions that cannot be taken over are left open. */
export function drawRouter(
  ground: Ground,
  ways: readonly { label: string; when: string | null; test: Expr }[],
  place: Place,
  more: { max_iterations?: number; name?: string; otherwise?: string } = {},
): string {
  const { name = "Decide", otherwise = OTHERWISE, ...rest } = more;
  const id = ground.trail.step("decide", {
    node_type: "conditional_router",
    name,
    config: {
      kind: "expression",
      conditions: ways.map(({ label, when }) => ({ label, when: when ?? "" })),
      default_label: otherwise,
    },
    ...rest,
  });
  const open = ways.filter(({ when }) => when === null);
  for (const { label, test } of open)
    ground
      .findings(test)
      .placeholder(
        "",
        `When "${label}" is taken is code that cannot be taken over. Write its condition at the router; the workflow cannot run until then.`,
        id,
      );
  if (open.length > 0)
    ground.drawing.note(
      open.map(({ label, test }) => `${label}: ${ground.source(test, 2000)}`).join("\n\n"),
      "Conditions in code",
    );
  else ground.findings(place).keeps("", `The decision became a router with ${ways.length + 1} ways.`, id);
  return id;
}

/** A label that no other way has. */
export function freshLabel(label: string, others: readonly { label: string }[]): string {
  const taken = new Set([...others.map((one) => one.label), OTHERWISE]);
  let fresh = label.slice(0, 100) || "yes";
  for (let n = 2; taken.has(fresh); n++) fresh = `${label.slice(0, 100) || "yes"} (${n})`;
  return fresh;
}
