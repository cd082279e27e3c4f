import type { Principal } from "@/server/access/principal";
import type { Services } from "../services";
import { libraryServices } from "./library";
import { newRights } from "./rights";
import { runServices } from "./runs";
import { refuse, whole } from "./views";
import { workflowServices } from "./workflows";

const limited = new WeakSet<Services>();

/**
 * The services that a caller may use. For a token limited to some workflows, other workflows don't exist, and everything outside
 * of workflows is read-only. `perform` and the endpoints pass these to everything they call.
 */
export function servicesFor(services: Services, principal: Principal | null): Services {
  if (!principal?.workflows || limited.has(services)) return services;
  const rights = newRights(services, new Set(principal.workflows));
  // A new service needs an entry that says which members belong to a workflow, and which others can be read.
  const seen: Services = {
    ...workflowServices(services, rights),
    ...runServices(services, rights),
    ...libraryServices(services, rights, principal),
    ...whole(services, "called", "testParts", "testGates", "models", "library"),
    ...whole(services, "roleFolder", "disk", "installation"),
  };
  limited.add(seen);
  return seen;
}

/** Refuses a limited caller before an operation outside of workflows. Throws not_allowed. */
export function onlyUnlimited({ workflows }: Principal): void {
  if (workflows) refuse();
}
