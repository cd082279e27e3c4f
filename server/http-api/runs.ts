import { z } from "zod";
import { streamLimits, takeStream } from "@/server/access/requests/streams";
import { Rejection } from "@/server/domain/errors/rejection";
import { placeAfter } from "@/server/domain/run/run-order";
import { LIMITS } from "@/server/limits";
import { Page } from "@/server/operations/common-schemas";
import { fromCursor, toCursor } from "@/server/operations/paging";
import { bisectOperations } from "@/server/operations/runs/bisect";
import { controlOperations } from "@/server/operations/runs/control";
import { forkOperations } from "@/server/operations/runs/forks";
import { pastOperations } from "@/server/operations/runs/past";
import {
  Run,
  RunEvent,
  RunFilter,
  RunStatus,
  RunSummary,
  StartRun,
} from "@/server/operations/runs/run-schemas";
import { toRun } from "@/server/operations/runs/run-view";
import { known, runOf, runOperations } from "@/server/operations/runs/runs";
import { shareOperations } from "@/server/operations/runs/share";
import { steeringOperations } from "@/server/operations/runs/steering";
import { teamOperations } from "@/server/operations/runs/team";
import { shownOf } from "@/server/runner/lifecycle/redact-events";
import type { RunFrame } from "@/server/runner/log/followers";
import type { RunSummary as StoredRun } from "@/server/store/runs/runs";
import { type EndpointCall, endpoint } from "./endpoint";
import { eventStream, type Message } from "./event-stream";
import { endpointsOf, performFor } from "./expose";

export const runEndpoints = [
  endpoint({
    method: "POST",
    path: "/workflows/{id}/runs",
    name: "startRun",
    summary: "Start a run",
    needs: runOperations.start.needs,
    about: "Returns immediately. Follow the run through its events, or poll it.",
    tag: "Runs",
    body: StartRun,
    reads: {
      "Idempotency-Key":
        "Any string. The same key never starts a second run; with a different workflow, input or config, it returns 422 `key_reused`",
    },
    success: { status: 202, about: "The run is queued", schema: z.object({ run_id: z.string() }) },
    refusals: [404, 422, 503],
    answer(call) {
      const { params, body, headers } = call;
      const key = headers.get("idempotency-key");
      if (key !== null && (key === "" || key.length > LIMITS.idempotencyKey))
        throw new Rejection(
          "bad_request",
          `An Idempotency-Key must have 1 to ${LIMITS.idempotencyKey} characters.`,
        );
      const { run_id, created } = performFor(
        runOperations.start,
        {
          workflow_id: params.id,
          version: body.version,
          input: body.input,
          config: body.config,
          ...(key === null ? {} : { idempotency_key: key }),
        },
        call,
      );
      const headersOut = {
        location: `/api/v1/runs/${run_id}`,
        ...(created ? {} : { "idempotent-replayed": "true" }),
      };
      return { status: 202, body: { run_id }, headers: headersOut };
    },
  }),

  endpoint({
    method: "GET",
    path: "/runs",
    name: "listRuns",
    summary: "List runs",
    needs: runOperations.list.needs,
    tag: "Runs",
    query: Page.extend({
      limit: z.coerce.number().int().min(1).max(200).default(LIMITS.page.normal),
      status: RunStatus.optional(),
      ...RunFilter.shape,
    }),
    success: {
      status: 200,
      about: "A page of runs",
      schema: z.object({ runs: z.array(RunSummary), next_cursor: z.string().nullable() }),
    },
    answer(call) {
      const { limit, cursor, status, ...filter } = call.query;
      const place = cursor === undefined ? null : fromCursor(cursor);
      const runs = performFor(
        runOperations.list,
        {
          limit,
          ...filter,
          ...(status === undefined ? {} : { status: [status] }),
          ...(place ? { after: { value: Number(place[0]), id: place[1] } } : {}),
        },
        call,
      );
      const last = runs.at(-1);
      const end = last && runs.length === limit ? placeAfter(last, filter.order) : null;
      const next_cursor = end ? toCursor([end.value, end.id]) : null;
      return { body: { runs, next_cursor } };
    },
  }),

  endpoint({
    method: "GET",
    path: "/runs/{id}",
    name: "getRun",
    summary: "Get a run",
    needs: runOperations.get.needs,
    tag: "Runs",
    success: { status: 200, about: "The run", schema: Run },
    refusals: [404],
    answer(call) {
      const run = performFor(runOperations.get, { run_id: call.params.id }, call);
      return { body: toRun(run, run.last_seq, known(call.services, run.id).state, run.place) };
    },
  }),

  endpoint({
    method: "GET",
    path: "/runs/{id}/events",
    name: "listRunEvents",
    summary: "Get a run's events",
    needs: "read",
    about:
      "Returns part of the log as JSON. With `Accept: text/event-stream`, streams the log, then live events. Each message is one event with its `seq` as ID; `live` messages contain text while it is generated and have no ID; `end` is the last message.",
    tag: "Runs",
    query: z.object({
      after: z.coerce
        .number()
        .int()
        .min(0)
        .default(0)
        .meta({ description: "Only events after this event number" }),
      limit: z.coerce.number().int().min(1).max(2_000).default(500),
    }),
    reads: {
      "Last-Event-ID": "For streams: resume after this event",
      Accept: "Use text/event-stream to follow the run",
    },
    success: {
      status: 200,
      about: "Events in order",
      schema: z.object({
        events: z.array(RunEvent),
        last_seq: z.int(),
        has_more: z.boolean(),
        finished: z.boolean(),
      }),
      stream: "One message per event",
      empty: "The run has ended, and Last-Event-ID is its last event",
    },
    refusals: [404, 503],
    answer(call) {
      const { services, params, query, headers } = call;
      const run = runOf(services, params.id);
      if (wantsStream(headers)) return followRun(call, run);
      const isStill = run.status === "held" || run.status === "finished";
      const read = services.runs.events(params.id, query.after, query.limit, isStill).slice(0, query.limit);
      const events = shownOf(services.runs, params.id)(read);
      const last_seq = events.at(-1)?.seq ?? query.after;
      return {
        body: {
          events,
          last_seq,
          has_more: events.length > 0 && last_seq < run.last_seq,
          finished: run.status === "finished",
        },
      };
    },
  }),

  ...endpointsOf(shareOperations),
  ...endpointsOf(runOperations),
  ...endpointsOf(pastOperations),
  ...endpointsOf(steeringOperations),
  ...endpointsOf(controlOperations),
  ...endpointsOf(teamOperations),
  ...endpointsOf(forkOperations),
  ...endpointsOf(bisectOperations),
];

/** Whether an Accept header asks for an event stream: in any case of letters, and not with the weight 0. */
function wantsStream(headers: Headers): boolean {
  return (headers.get("accept") ?? "").split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return type === "text/event-stream" && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

function followRun(
  { services, query, headers, signal, principal, isAllowed }: EndpointCall<unknown, { after: number }>,
  run: StoredRun & { last_seq: number },
): Response {
  // A reader that has seen nothing yet sends none, or an empty one.
  const lastId = headers.get("last-event-id") || "0";
  if (!/^\d{1,12}$/.test(lastId))
    throw new Rejection("bad_request", "Last-Event-ID must be an event number.");
  const after = Math.max(query.after, Number(lastId));
  // A standard EventSource reconnects after every end; 204 tells it that there is no more.
  if (run.status === "finished" && lastId !== "0" && after >= run.last_seq)
    return new Response(null, { status: 204 });
  const place = takeStream(principal ?? { kind: "token", id: "" });
  if (place === "too_many_yours")
    throw new Rejection(
      "too_many_streams",
      `A token can follow at most ${streamLimits().perPrincipal} runs at the same time.`,
    );
  if (place === "too_many")
    throw new Rejection(
      "server_too_many_streams",
      "Too many streams are open on this server. Try again later.",
    );
  return eventStream((stop) => messages(services, run.id, after, stop), {
    ...{ signal, onClose: place.release, isAllowed },
  });
}

async function* messages(
  services: EndpointCall["services"],
  runId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<Message[]> {
  for await (const frame of services.host.follow(runId, after, signal)) {
    yield toMessages(frame, () => services.runs.find(runId));
    if (frame.kind === "end") return;
  }
}

function toMessages(frame: RunFrame, run: () => StoredRun | null): Message[] {
  if (frame.kind === "events") return frame.events.map((event) => ({ id: String(event.seq), data: event }));
  if (frame.kind === "live") return frame.frames.map((live) => ({ event: "live", data: live }));
  const ended = run();
  return [
    {
      event: "end",
      data: {
        status: ended?.status ?? null,
        final_status: ended?.final_status ?? null,
        reason_code: ended?.reason_code ?? null,
      },
    },
  ];
}
