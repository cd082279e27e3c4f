import { auditName, type Principal } from "@/server/access/principal";
import { textsOf } from "@/server/domain/base/guards";
import type { Services } from "../services";
import type { Rights } from "./rights";
import { checked, only, refuse, seenOf, whole } from "./views";

/** What all workflows share: most of it can be read. */
export function libraryServices(
  services: Services,
  { hasWorkflow, belongs, hasMemory, needMemory, hasBinned }: Rights,
  principal: Principal,
) {
  const { memories, bin, toolSources } = services;
  return {
    crews: only(services.crews, whole(services.crews, "find", "list")),
    agents: only(services.agents, whole(services.agents, "find", "list")),
    roles: only(services.roles, whole(services.roles, "find", "list", "all")),
    memories: only(memories, {
      ...checked(needMemory, memories, "remove", "update"),
      ...checked(
        (place) => (belongs(place) ? undefined : refuse()),
        memories,
        ...(["retrieve", "store"] as const),
      ),
      list: ({ limit = 50, ...query } = {}) =>
        seenOf(
          (last) => memories.list({ ...query, ...(last && { before: last }), limit: 200 }),
          hasMemory,
          limit,
        ),
      counts() {
        const counts = memories.counts();
        for (const memory of memories.list({ limit: -1 })) if (!hasMemory(memory)) counts[memory.scope]--;
        return counts;
      },
    }),
    bin: only(bin, {
      list: () => bin.list().filter(hasBinned),
      purge: (kind, id) => hasBinned({ kind, id }) && bin.purge(kind, id),
    }),
    audit: only(services.audit, {
      list: ({ limit = 100, ...filter } = {}) =>
        seenOf(
          (last) => services.audit.list({ ...filter, ...(last && { before: last.id }), limit: 200 }),
          ({ who, detail }) => who === auditName(principal) || hasWorkflow(textsOf([detail.workflow_id])[0]),
          limit,
        ),
    }),
    toolSettings: only(services.toolSettings, whole(services.toolSettings, "list")),
    toolSources: only(toolSources, {
      ...whole(toolSources, "isCodeEnabled"),
      customTools: only(
        toolSources.customTools,
        whole(toolSources.customTools, "bin", "find", "list", "versions"),
      ),
      mcp: only(toolSources.mcp, whole(toolSources.mcp, "list")),
    }),
    providers: only(
      services.providers,
      whole(services.providers, "find", "findDefault", "headersOf", "keepReported", "keyOf", "list"),
    ),
    registry: only(services.registry, whole(services.registry, "list")),
    tokens: only(services.tokens, whole(services.tokens, "nameOf")),
    noticeSettings: only(services.noticeSettings, whole(services.noticeSettings, "find")),
    notifier: only(services.notifier, {}),
  } satisfies Partial<Services>;
}
