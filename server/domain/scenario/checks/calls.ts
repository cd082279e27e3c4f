import { defined } from "@/server/domain/base/defined";
import type { RunEventOf } from "@/server/domain/run/events";
import { newWork, readSchema } from "@/server/domain/schema/schema";
import type { ExpectationOf } from "../expectation";
import { type Finding, found, lastOf, placeOf, type Seen, times } from "./finding";

export function checkQuestions(seen: Seen, { nodes, count }: ExpectationOf<"questions">): Finding {
  const asked = seen.events.filter(
    (event): event is RunEventOf<"interaction_requested"> => event.type === "interaction_requested",
  );
  const at = asked.map(({ node_id }) => node_id ?? "");
  const nameOf = (id: string) => seen.state.graph.nodes[id]?.name || id;
  if (count !== undefined && count !== asked.length)
    return found(
      false,
      `Expected ${questions(count)}, but ${asked.length === 0 ? "none was" : asked.length === 1 ? "1 was" : `${asked.length} were`} asked.`,
      {
        expected: count,
        seen: asked.length,
        ...placeOf(asked[Math.min(count, asked.length - 1)] ?? lastOf(seen)),
      },
    );
  if (nodes === undefined)
    return found(
      true,
      asked.length === 0
        ? "No questions, as expected."
        : `${asked.length} ${asked.length === 1 ? "question was" : "questions were"} asked.`,
      {
        expected: asked.length,
        seen: asked.length,
      },
    );
  const about = { expected: nodes, seen: at };
  const left = [...at];
  for (const id of nodes) {
    const place = left.indexOf(id);
    if (place === -1)
      return found(
        false,
        `${nameOf(id)} should have asked a person${at.includes(id) ? " again" : ""}, but didn't.`,
        {
          ...about,
          ...placeOf(lastOf(seen)),
          node_id: id,
        },
      );
    left.splice(place, 1);
  }
  const [more] = left;
  if (more === undefined) return found(true, "The expected nodes asked.", about);
  const event = asked.findLast(({ node_id }) => node_id === more);
  return found(false, `${nameOf(more)} asked a person unexpectedly: ${event?.payload.title ?? ""}`, {
    ...about,
    ...placeOf(event),
  });
}

const questions = (count: number) =>
  count === 0 ? "no questions" : count === 1 ? "1 question" : `${count} questions`;

function wantedCalls(called: number | boolean): string {
  const wanted = typeof called === "number" ? times(called) : called ? "" : "never";
  return wanted === "never" ? "not to be called" : `to be called${wanted && ` ${wanted}`}`;
}

export function checkTools(seen: Seen, { tool, called, args, node }: ExpectationOf<"tools">): Finding {
  const schema = args === undefined ? null : readSchema(args);
  const work = newWork();
  const ofTool = seen.events.filter(
    (event): event is RunEventOf<"tool_call_started"> =>
      event.type === "tool_call_started" &&
      event.payload.tool_name === tool &&
      (node === undefined || event.node_id === node),
  );
  const rejected = new Set(
    seen.events.flatMap((event) => (event.type === "tool_call_refused" ? (event.call_id ?? []) : [])),
  );
  const made = ofTool.filter(({ call_id }) => call_id === undefined || !rejected.has(call_id));
  const fitting = schema
    ? made.filter(({ payload }) => schema.errors(payload.args, work).length === 0)
    : made;
  const where = node === undefined ? "" : ` in ${seen.state.graph.nodes[node]?.name || node}`;
  const so = schema ? " with matching arguments" : "";
  const count = fitting.length;
  const holds = typeof called === "number" ? count === called : called === count > 0;
  const timesCalled = count === 0 ? "never called" : `called ${times(count)}`;
  const otherwise = schema && made.length > count ? ` Its other calls had different arguments.` : "";
  return found(
    holds,
    holds
      ? `${tool} was ${timesCalled}${where}${so}.`
      : `Expected ${tool} ${wantedCalls(called)}${where}${so}, but it was ${timesCalled}.${otherwise}`,
    {
      expected: called,
      seen: count,
      ...(count > 0
        ? placeOf(fitting[0])
        : { ...placeOf(made[0] ?? lastOf(seen)), ...defined({ node_id: node }) }),
    },
  );
}
