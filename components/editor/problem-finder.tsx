import { useQueries, useQuery } from "@tanstack/react-query";
import { startTransition, useEffect, useMemo } from "react";
import { useCalledWorkflows } from "@/components/forms/use-callable-workflows";
import { useVariables } from "@/components/forms/variables";
import { useTrpc } from "@/components/trpc";
import { whenSettled } from "@/components/ui/when-idle";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { newIsToolKnown, toolFacts } from "@/server/domain/crew/crew-tools";
import type { CalledWorkflows } from "@/server/domain/graph/callable";
import { calledWorkflows } from "@/server/domain/graph/called";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { agentUses } from "@/server/domain/library/agent-use";
import { secretsOfGraph } from "@/server/domain/library/capabilities";
import { crewUses } from "@/server/domain/library/crew-use";
import type { Library } from "@/server/domain/library/library";
import { type ModelChoice, modelUses } from "@/server/domain/library/model-uses";
import { findProblems, type Problem, type ProblemContext } from "@/server/domain/problems/problems";
import { useEditor } from "./editing/editor-store";
import { useWithheld } from "./use-grants";

const keyOf = ({ provider_id = "", model = "" }: ModelChoice) => JSON.stringify([provider_id, model]);

/** Whether a model's price is known; queried only if the workflow has a cost limit. */
function useKnownPrices(graph: WorkflowGraph): ((choice: ModelChoice) => boolean) | undefined {
  const trpc = useTrpc();
  const hasBudget = graph.config?.budget?.max_cost_usd != null;
  const choices = useMemo(() => {
    const uses = hasBudget ? modelUses(graph).map(({ choice }) => choice) : [];
    return [...new Map(uses.map((choice) => [keyOf(choice), choice])).values()];
  }, [graph, hasBudget]);
  const { data } = useQuery(
    trpc.providers.knownPrices.queryOptions(choices, { enabled: choices.length > 0 }),
  );
  // The graph changes with every key, its models rarely.
  const asked = choices.map(keyOf).join(" ");
  return useMemo(() => {
    if (!data) return undefined;
    const unknown = new Set(asked.split(" ").filter((_, at) => data[at] === false));
    return (choice) => !unknown.has(keyOf(choice));
  }, [asked, data]);
}

/** The other workflows, with the errors of those that this one runs. */
function useCheckedWorkflows(graph: WorkflowGraph): CalledWorkflows | undefined {
  const trpc = useTrpc();
  const called = calledWorkflows(graph);
  const workflows = useCalledWorkflows(
    useEditor(({ id }) => id),
    called.length > 0,
  );
  const known = called.filter((id) => workflows?.find(id));
  const counts = useQueries({
    queries: known.map((id) => trpc.workflows.validate.queryOptions({ id })),
    combine: (answers) =>
      answers.map(({ data }) => data?.problems.filter(({ severity }) => severity === "error").length ?? 0),
  });
  // The graph changes with every key, what it runs rarely.
  const asked = known.join(" ");
  return useMemo(() => {
    if (!workflows) return undefined;
    const ids = asked.split(" ");
    return { ...workflows, errors: (id) => counts[ids.indexOf(id)] ?? 0 };
  }, [workflows, asked, counts]);
}

/** The secrets of this installation; queried only if the workflow names any. */
function useKnownSecrets(graph: WorkflowGraph): ProblemContext["secrets"] {
  const id = useEditor((editor) => editor.id);
  const isAsked = useMemo(() => secretsOfGraph(graph).length > 0, [graph]);
  const { data } = useQuery(useTrpc().secrets.list.queryOptions(undefined, { enabled: isAsked }));
  return useMemo(() => {
    if (!data) return undefined;
    const known = new Map(
      data.map(({ name, hosts, workflows }) => [
        name,
        { hosts, isForThis: workflows === null || workflows.includes(id) },
      ]),
    );
    return (name) => known.get(name);
  }, [data, id]);
}

/** The prices, tools, crews and agents of this installation that the workflow refers to. */
function useProblemContext(graph: WorkflowGraph): ProblemContext {
  const trpc = useTrpc();
  const isPriceKnown = useKnownPrices(graph);
  const withheld = useWithheld();
  const tools = useQuery(trpc.tools.names.queryOptions()).data;
  const namesCrews = crewUses(graph).size > 0;
  const crews = useQuery(trpc.crews.list.queryOptions(undefined, { enabled: namesCrews })).data;
  const namesAgents = agentUses(graph).size > 0;
  const agents = useQuery(trpc.agents.list.queryOptions(undefined, { enabled: namesAgents })).data;
  const library = useMemo<Library | undefined>(() => {
    // A partly loaded library would report known things as unknown.
    if ((namesCrews && !crews) || (namesAgents && !agents)) return undefined;
    const crewOf = new Map(crews?.map(({ id, crew }) => [id, crew]));
    const agentOf = new Map(agents?.map(({ id, agent }) => [id, agent]));
    return { crew: (id) => crewOf.get(id), agent: (id) => agentOf.get(id) };
  }, [namesCrews, crews, namesAgents, agents]);
  const workflows = useCheckedWorkflows(graph);
  const secrets = useKnownSecrets(graph);
  const known = useVariables(useEditor(({ id }) => id)).data;
  const variables = useMemo(() => known && new Set(known.map(({ name }) => name)), [known]);
  return useMemo(
    () => ({
      isPriceKnown,
      isToolKnown:
        tools &&
        newIsToolKnown(
          tools.tools.map(({ name }) => name),
          tools.mcp_servers,
        ),
      ...(tools ? toolFacts(tools.tools) : {}),
      library,
      workflows,
      secrets,
      variables,
      withheld,
      delegatesMayKeepTools: tools?.delegates_may_keep_tools,
    }),
    [isPriceKnown, tools, library, workflows, secrets, variables, withheld],
  );
}

const PAUSE_MS = 180;

export interface ProblemFinderProps {
  graph: WorkflowGraph;
  roles: readonly RoleDefinition[];
  onFound: (problems: readonly Problem[]) => void;
}

/** Finds the problems of a workflow between edits. Loaded after the canvas. */
export function ProblemFinder({ graph, roles, onFound }: ProblemFinderProps) {
  const context = useProblemContext(graph);
  useEffect(() => {
    const check = () => startTransition(() => onFound(findProblems(graph, roles, undefined, context)));
    return whenSettled(check, PAUSE_MS);
  }, [graph, roles, context, onFound]);
  return null;
}
