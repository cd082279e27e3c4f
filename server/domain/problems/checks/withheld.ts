import { defined } from "@/server/domain/base/defined";
import { capabilitiesOf, describeCapability } from "@/server/domain/library/capabilities";
import { EMPTY_LIBRARY, withLibrary } from "@/server/domain/library/library";
import type { Check } from "../check";
import { named, quoted } from "../names";

/** What came with a file is used only once a person has allowed it. */
export function checkWithheld({ graph, report, roles, here }: Check): void {
  const withheld = new Set(here.withheld);
  if (withheld.size === 0) return;
  const library = here.library ?? EMPTY_LIBRARY;
  const asked = capabilitiesOf(withLibrary(graph, library), roles);
  const keys = new Set(asked.map(({ key }) => key));
  const left = [...withheld].flatMap((key) =>
    key.startsWith("tool:") && !keys.has(key) ? [key.slice(5)] : [],
  );
  if (left.length > 0)
    report.warning(
      "W_LEFT_OUT",
      { kind: "workflow" },
      `Imported roles aren't allowed to use ${quoted(left)} yet. Allow ${left.length === 1 ? "it" : "them"} on the Roles page.`,
    );
  for (const capability of asked) {
    if (!withheld.has(capability.key)) continue;
    for (const { node_id, role } of capability.where)
      report.error(
        "E_NOT_ALLOWED",
        { kind: "node", ...defined({ id: node_id }) },
        `${named(graph, node_id ?? "")} would ${describeCapability(capability)}${role ? ` as ${role}` : ""}, which isn't allowed yet in this imported workflow.`,
        { kind: "allow", key: capability.key, label: "Allow" },
      );
  }
}
