import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { withLibrary } from "@/server/domain/library/library";
import { roleUses } from "@/server/domain/library/role-use";
import { foreignOf } from "@/server/runner/lifecycle/launch";
import { addressesIn, placeOf } from "@/server/tools/user-provided-text";
import type { Services } from "../services";

/** The hosts and e-mail addresses that texts name, sorted. */
export const placesIn = (texts: readonly string[]): string[] =>
  [
    ...new Set(
      texts.flatMap((text) =>
        addressesIn(text).flatMap(({ kind, value }) =>
          kind === "email" ? [value] : [placeOf(value)?.host ?? []].flat(),
        ),
      ),
    ),
  ].sort();

/** Those in the texts of a workflow, and of the roles at its nodes, that came with files. */
export function namedIn(services: Services, graph: WorkflowGraph): string[] {
  const whole = withLibrary(graph, services.library);
  const used = roleUses(whole);
  const roles = services.roles.all().filter(({ name }) => used.has(name));
  return placesIn(foreignOf(services, whole, roles));
}
