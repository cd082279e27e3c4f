import { defined } from "@/server/domain/base/defined";
import { REPEATED } from "@/server/domain/nodes/end";
import { foldRun, type RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { pathOf } from "./checks/path";
import { type Expectation, Expectation as ExpectationSchema } from "./expectation";
import type { PeopleAnswer } from "./scenario-test";

/** Longer values differ with every model answer, so only their type is proposed. */
const LONGEST_EQUAL = 80;

/** Expectations from a run: its final status, path, questions and state. */
export function proposedExpectations(
  events: readonly RunEvent[],
  state: RunState = foldRun("", events),
): Expectation[] {
  const { final_status: is, reason_code } = state.run;
  const path = pathOf({ events });
  const asked = events.flatMap((event) =>
    event.type === "interaction_requested" ? [event.node_id ?? ""] : [],
  );
  const proposed: Expectation[] = [];
  if (is)
    proposed.push({
      kind: "status",
      is,
      ...defined({ reason: is === "COMPLETED" ? undefined : reason_code || undefined }),
    });
  if (path.length > 0 && path.length <= 1000) proposed.push({ kind: "path", nodes: path, mode: "exactly" });
  proposed.push(
    asked.length > 0 && asked.length <= 200
      ? { kind: "questions", nodes: asked }
      : { kind: "questions", count: asked.length },
  );
  for (const key of Object.keys(state.state).sort()) {
    if (Object.hasOwn(state.input, key) || key.startsWith(REPEATED)) continue;
    const value = state.state[key];
    if (value === undefined) continue;
    const isShort = JSON.stringify(value).length <= LONGEST_EQUAL;
    const expectation = {
      kind: "text",
      key,
      ...(isShort ? { equals: value } : { schema: { type: typeName(value) } }),
    };
    const read = ExpectationSchema.safeParse(expectation);
    if (read.success) proposed.push(read.data);
  }
  return proposed.slice(0, 200);
}

const typeName = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

/** What people answered in a run, in the order in which they were asked. */
export function peopleOf({ interactions }: Pick<RunState, "interactions">): PeopleAnswer[] {
  return Object.values(interactions).flatMap(({ node_id, requested, answered }) => {
    if (!answered) return [];
    const { answer, option, value, calls, content, message } = answered;
    return [
      defined({
        node_id,
        kind: requested.kind,
        title: requested.title.slice(0, 500),
        answer: option ?? answer,
        value,
        calls,
        content,
        message,
      }),
    ];
  });
}
