import type { QuestionQuery } from "@/server/store/runs/questions";
import type { Services } from "../services";
import type { Rights } from "./rights";
import { checked, only, refuse, whole } from "./views";

/** Runs, their questions and files. */
export function runServices(services: Services, { ids, hasWorkflow, hasRun, needRun, needCalls }: Rights) {
  const { runs, host, retention } = services;
  return {
    runs: only(runs, {
      ...checked(
        needRun,
        runs,
        ...([
          "answers",
          "children",
          "creation",
          "events",
          "input",
          "journal",
          "openChildren",
          "state",
        ] as const),
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
    questions: questionsOf(services, hasRun),
    notices: only(services.notices, {
      undelivered: () => services.notices.undelivered().filter(({ run_id }) => hasRun(run_id)),
    }),
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
    demoPace: checked(needRun, services.demoPace, "slow", "skip"),
    retention: only(retention, {
      ...whole(retention, "sizes", "countOutdated"),
      rules() {
        const { workflows: own, ...rules } = retention.rules();
        return { ...rules, workflows: Object.fromEntries(Object.entries(own).filter(([id]) => ids.has(id))) };
      },
      purge: (id) => hasRun(id) && retention.purge(id),
    }),
    startRun(launch) {
      const { workflow_id: id, version } = launch;
      if (!hasWorkflow(id)) return undefined;
      const earlier = typeof version === "number" && services.versions.find(id, version);
      if (earlier) needCalls(id, earlier.graph);
      return services.startRun(launch);
    },
    findDifference(request) {
      needRun(request.good);
      needRun(request.bad);
      return services.findDifference(request);
    },
    forkRun(request) {
      needRun(request.run_id);
      // The fork of a child run would belong to the child's own workflow.
      const id = runs.find(request.run_id)?.workflow_id;
      if (!id || !hasWorkflow(id)) return refuse();
      const original = request.graph === "original" && runs.state(request.run_id);
      if (original) needCalls(id, original.graph);
      return services.forkRun(request);
    },
  } satisfies Partial<Services>;
}

function questionsOf({ questions }: Pick<Services, "questions">, hasRun: Rights["hasRun"]) {
  const allQuestions = (query: QuestionQuery = {}) =>
    questions.list({ ...query, limit: -1 }).filter(({ run_id }) => hasRun(run_id));
  return only(questions, {
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
  });
}
