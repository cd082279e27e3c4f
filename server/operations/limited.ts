import { auditName, type Principal } from "@/server/access/principal";
import { recordOf, textsOf } from "@/server/domain/base/guards";
import { Rejection } from "@/server/domain/errors/rejection";
import { calledWorkflows } from "@/server/domain/graph/called";
import type { Memory } from "@/server/store/library/memories/memories";
import type { QuestionQuery } from "@/server/store/runs/questions";
import { notFound } from "./rejections";
import type { Services } from "./services";

const limited = new WeakSet<Services>();

/**
 * The services that a caller may use. For a token limited to some workflows, other workflows don't exist, and everything outside
 * of workflows is read-only. `perform` and the endpoints pass these to everything they call.
 */
export function servicesFor(services: Services, principal: Principal | null): Services {
  if (!principal?.workflows || limited.has(services)) return services;
  const seen = limitedTo(services, principal, new Set(principal.workflows));
  limited.add(seen);
  return seen;
}

/** Refuses a limited caller before an operation outside of workflows. Throws not_allowed. */
export function onlyUnlimited({ workflows }: Principal): void {
  if (workflows) refuse();
}

function refuse(): never {
  throw new Rejection(
    "not_allowed",
    "This API token is limited to some workflows. It can change and run these, but can't create workflows or change anything else.",
  );
}

/** A service of which only these members work. All others throw, including members added later. */
const only = <S extends object>(_of: S, shown: NoInfer<Partial<S>>): S =>
  // The cast: other members are functions that throw.
  new Proxy(shown, {
    get: (target, name) =>
      Object.hasOwn(target, name) || typeof name === "symbol" ? Reflect.get(target, name) : refuse,
  }) as S;

type Method = (...args: unknown[]) => unknown;
type First<M> = M extends (first: infer A, ...rest: never[]) => unknown ? A : never;

/** Unchanged methods and properties. */
const whole = <S extends object, K extends keyof S>(of: S, ...names: K[]): Pick<S, K> =>
  Object.fromEntries(
    names.map((name) => {
      const value = of[name];
      return [name, typeof value === "function" ? (value.bind(of) as unknown) : value];
    }),
  ) as Pick<S, K>;

/** Methods whose first argument must pass a check, which throws. */
const checked = <S extends object, K extends keyof S>(
  check: (first: First<S[K]>) => void,
  of: S,
  ...names: K[]
): Pick<S, K> =>
  Object.fromEntries(
    names.map((name) => [
      name,
      (...args: [First<S[K]>, ...unknown[]]) => {
        check(args[0]);
        return Reflect.apply(of[name] as Method, of, args);
      },
    ]),
  ) as Pick<S, K>;

/** The visible rows of a list. `more` reads the page after a row, until there are enough. */
function seenOf<T>(more: (before: T | undefined) => T[], isSeen: (one: T) => boolean, limit: number): T[] {
  const found: T[] = [];
  for (let page = more(undefined); page.length > 0; page = more(page.at(-1))) {
    found.push(...page.filter(isSeen));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** A new service needs an entry here that says which members belong to a workflow, and which others can be read. */
function limitedTo(services: Services, principal: Principal, ids: ReadonlySet<string>): Services {
  const hasWorkflow = (id: string | null | undefined): boolean => typeof id === "string" && ids.has(id);
  // A child run belongs to its parent's workflow: a token for that workflow may see it.
  const hasRun = (id: string): boolean => hasWorkflow(services.runs.owner(id));
  const needWorkflow = (id: string): void => {
    if (!hasWorkflow(id)) throw notFound("workflow");
  };
  const needRun = (id: string): void => {
    if (!hasRun(id)) throw notFound("run");
  };
  const runOfScope = (scope_id: string): string => scope_id.split("/")[0] ?? "";
  const belongs = ({ scope, scope_id }: Pick<Memory, "scope" | "scope_id">): boolean =>
    scope === "workflow"
      ? hasWorkflow(scope_id)
      : scope !== "project" && scope !== "global" && hasRun(runOfScope(scope_id));
  // Shared memories can be read, unless a run of another workflow wrote them.
  const hasMemory = (memory: Memory): boolean =>
    belongs(memory) ||
    ((memory.scope === "project" || memory.scope === "global") &&
      (memory.source.run_id === undefined || hasRun(memory.source.run_id)));
  const needMemory = (id: number): void => {
    const memory = services.memories.find(id);
    if (!memory || !hasMemory(memory))
      throw new Rejection("not_found", "This memory has expired or was deleted.");
    if (!belongs(memory)) refuse();
  };
  const needTrigger = (id: string): void => {
    if (!hasWorkflow(services.triggerStore.find(id)?.workflow_id)) throw notFound("trigger");
  };
  /** Library items in the bin need a token that may change the library. */
  const hasBinned = ({ kind, id }: { kind: string; id: string }): boolean => {
    if (kind === "workflow") return hasWorkflow(id);
    if (kind === "run") return hasRun(id);
    if (kind !== "test" && kind !== "memory") return false;
    const thing = recordOf(JSON.parse(services.bin.content(kind, id)?.content ?? "null"));
    if (kind === "test") return hasWorkflow(textsOf([thing.workflow_id])[0]);
    const [scope_id = ""] = textsOf([thing.scope_id]);
    return belongs({ scope: thing.scope as Memory["scope"], scope_id });
  };

  const { workflows, runs, scenarios, host, questions, memories, retention, bin, toolSources } = services;
  const allQuestions = (query: QuestionQuery = {}) =>
    questions.list({ ...query, limit: -1 }).filter(({ run_id }) => hasRun(run_id));

  return {
    workflows: only(workflows, {
      ...checked(needWorkflow, workflows, "rename", "withhold", "remove", "restore", "putBack"),
      ...whole(workflows, "foreign", "atOnce"),
      points: only(workflows.points, checked(needWorkflow, workflows.points, "find", "list")),
      find: (id) => (hasWorkflow(id) ? workflows.find(id) : undefined),
      list: () => workflows.list().filter(({ id }) => hasWorkflow(id)),
      duplicate: (id) => (hasWorkflow(id) ? refuse() : undefined),
      save(change) {
        needWorkflow(change.id);
        const before = new Set(calledWorkflows(workflows.find(change.id)?.graph ?? change.graph));
        // Otherwise, it could run any workflow through its own.
        if (calledWorkflows(change.graph).some((id) => !before.has(id) && !hasWorkflow(id))) refuse();
        return workflows.save(change);
      },
    }),
    called: services.called,
    versions: only(services.versions, {
      ...checked(needWorkflow, services.versions, "find", "list", "publish", "setTests"),
      // For the workflows that it runs.
      ...whole(services.versions, "newest"),
    }),
    runs: only(runs, {
      ...checked(
        needRun,
        runs,
        "answers",
        "children",
        "creation",
        "events",
        "input",
        "journal",
        "openChildren",
        "state",
      ),
      ...whole(runs, "owner"),
      find: (id) => (hasRun(id) ? runs.find(id) : null),
      list: (query) => runs.list({ ...query, workflows: [...ids] }),
      family: (id) => (hasRun(id) ? runs.family(id).filter((one) => hasRun(one.id)) : []),
      byWorkflow: () => new Map([...runs.byWorkflow()].filter(([id]) => hasWorkflow(id))),
      spent: (since) => runs.spent(since, [...ids]),
      remove: (id) => hasRun(id) && runs.remove(id),
      restore: (id) => hasRun(id) && runs.restore(id),
    }),
    questions: only(questions, {
      list: ({ limit = 200, ...query } = {}) => allQuestions(query).slice(0, limit),
      total: (query) => allQuestions(query).length,
      count() {
        const open = allQuestions().filter(({ held }) => held === null);
        const [newest] = open.toSorted((a, b) => b.ask.requested_at - a.ask.requested_at);
        return {
          open: open.length,
          newest: newest
            ? { asked_at: newest.ask.requested_at, run_id: newest.run_id, interaction_id: newest.ask.id }
            : null,
        };
      },
      isOpen: (run, question) => hasRun(run) && questions.isOpen(run, question),
    }),
    scenarios: only(scenarios, {
      ...checked(
        needWorkflow,
        scenarios,
        ...(["create", "find", "keep", "list", "remove", "result", "results", "save"] as const),
      ),
      judges: only(scenarios.judges, {
        ...checked(
          needWorkflow,
          scenarios.judges,
          ...(["judgeCounts", "judged", "keepVerdict", "label", "verdict"] as const),
        ),
      }),
    }),
    testParts: services.testParts,
    testGates: services.testGates,
    notices: only(services.notices, {
      undelivered: () => services.notices.undelivered().filter(({ run_id }) => hasRun(run_id)),
    }),
    noticeSettings: only(services.noticeSettings, whole(services.noticeSettings, "find")),
    notifier: only(services.notifier, {}),
    host: {
      ...checked(needRun, host, "cancel", "follow", "tryAgain"),
      live: { isHere: (id) => hasRun(id) && host.live.isHere(id) },
      steering: only(
        host.steering,
        checked(needRun, host.steering, "answer", "answered", "command", "editPlan", "raiseLimit"),
      ),
      waiters: checked(needRun, host.waiters, "wait"),
    },
    engine: {
      state() {
        const state = services.engine.state();
        return { ...state, troubled: state.troubled.filter(({ run_id }) => hasRun(run_id)) };
      },
      ...checked(needRun, services.engine, "place"),
    },
    workspace: checked(needRun, services.workspace, "list", "read"),
    models: services.models,
    demoPace: checked(needRun, services.demoPace, "slow", "skip"),
    crews: only(services.crews, whole(services.crews, "find", "list")),
    agents: only(services.agents, whole(services.agents, "find", "list")),
    roles: only(services.roles, whole(services.roles, "find", "list", "all")),
    library: services.library,
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
    retention: only(retention, {
      ...whole(retention, "sizes", "countOutdated"),
      rules() {
        const { workflows: own, ...rules } = retention.rules();
        return { ...rules, workflows: Object.fromEntries(Object.entries(own).filter(([id]) => ids.has(id))) };
      },
      purge: (id) => hasRun(id) && retention.purge(id),
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
    tokens: only(services.tokens, whole(services.tokens, "nameOf")),
    triggerStore: only(services.triggerStore, {
      ...checked(
        needTrigger,
        services.triggerStore,
        ...(["find", "fires", "keyOf", "remove", "save", "setKey"] as const),
      ),
      ...checked(needWorkflow, services.triggerStore, "create", "ofWorkflow"),
      ...whole(services.triggerStore, "ofKind"),
      disabled: () => services.triggerStore.disabled().filter((one) => hasWorkflow(one.workflow_id)),
    }),
    triggers: only(services.triggers, {
      ...checked(
        ({ id }: { id: string }) => needTrigger(id),
        services.triggers,
        "fire",
        "retry",
        "upcoming",
        "backfill",
      ),
      ...checked(needWorkflow, services.triggers, "graphOf"),
      ...whole(services.triggers, "changed"),
    }),
    roleFolder: services.roleFolder,
    disk: services.disk,
    registry: only(services.registry, whole(services.registry, "list")),
    providers: only(
      services.providers,
      whole(services.providers, "find", "findDefault", "headersOf", "keepReported", "keyOf", "list"),
    ),
    secrets: only(services.secrets, {
      ...whole(services.secrets, "find", "knownTo"),
      // Named, since every object inherits a method of this name.
      valueOf: refuse,
      list: () =>
        services.secrets.list().flatMap((secret) => {
          const own = secret.workflows?.filter((id) => ids.has(id)) ?? null;
          return own?.length === 0 ? [] : [{ ...secret, workflows: own }];
        }),
    }),
    variables: only(services.variables, {
      ...checked((id) => id === null || needWorkflow(id), services.variables, "count", "list", "valuesFor"),
      ...checked((id) => (id === null ? refuse() : needWorkflow(id)), services.variables, "put", "remove"),
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
    installation: services.installation,
    startRun: (launch) => (hasWorkflow(launch.workflow_id) ? services.startRun(launch) : undefined),
    findDifference(request) {
      needRun(request.good);
      needRun(request.bad);
      return services.findDifference(request);
    },
    forkRun(request) {
      needRun(request.run_id);
      // The fork of a child run would belong to the child's own workflow.
      if (!hasWorkflow(runs.find(request.run_id)?.workflow_id)) refuse();
      return services.forkRun(request);
    },
  };
}
