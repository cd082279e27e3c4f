import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import type { JsonObject } from "@/server/domain/base/values";
import { findProblems } from "@/server/domain/problems/problems";
import { newModels } from "@/server/llm/models";
import { newOfflineFetch } from "@/server/llm/offline";
import { memoryProviders, offlineProvider } from "@/server/llm/testing";
import { newStage } from "@/server/runner/testing";
import type { Imported } from "../../format";

/** What keeps an imported workflow from running. */
export function blockingProblems({ graph, roles }: Imported) {
  if (!graph) throw new Error("No workflow.");
  return findProblems(graph, [...builtinRoles, ...roles]).filter(({ severity }) => severity === "error");
}

/** Runs an imported workflow on the offline model; whatever it asks for is a short text unless it is given. */
export function runOffline({ graph, roles }: Imported, given: JsonObject = {}) {
  if (!graph) throw new Error("No workflow.");
  const asked = Object.values(graph.nodes).find(({ node_type }) => node_type === "start")?.output_keys ?? [];
  return newStage({
    models: newModels({
      providers: memoryProviders([offlineProvider]),
      offlineFetch: newOfflineFetch({ speed: 0 }),
    }),
  }).run(graph, {
    input: { ...Object.fromEntries(asked.map((key) => [key, "Tell me about owls."])), ...given },
    roles: [...builtinRoles, ...roles],
  });
}
