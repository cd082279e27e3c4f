import type { Json } from "@/server/domain/base/values";

/** A rule that is built in, and that a router may name: reads the state, answers one label or several. */
export interface RouterFunction {
  name: string;
  description: string;
  /** The labels it can return; they become the router's routes. */
  labels: readonly string[];
  /** State keys that it reads. */
  reads: readonly string[];
  choose(state: Readonly<Record<string, Json>>): string | readonly string[];
}

/** The rule of the reference documents: follows `approval_status`. */
const approvalStatusRouter: RouterFunction = {
  name: "approval_status_router",
  description: "Routes by approval_status: approved or rejected",
  labels: ["approved", "rejected"],
  reads: ["approval_status"],
  choose: (state) => {
    const status = (typeof state.approval_status === "string" ? state.approval_status : "")
      .trim()
      .toLowerCase();
    return status === "approved" || status === "rejected" ? status : "error_unknown_status";
  },
};

// A Map, so that a name from a file can only ever find what was registered here.
const registry = new Map<string, RouterFunction>([[approvalStatusRouter.name, approvalStatusRouter]]);

export function findRouterFunction(name: string | undefined): RouterFunction | undefined {
  return name === undefined ? undefined : registry.get(name);
}

export function routerFunctions(): RouterFunction[] {
  return [...registry.values()];
}
