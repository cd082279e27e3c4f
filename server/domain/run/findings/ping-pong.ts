import type { RunEvent } from "../events";
import { type Detector, type Finding, named, of, placeOf } from "./finding";

/** A to B, B to A, A to B, B to A: the number of messages between the same two. */
const TURNS = 4;
/** A message with at most this many words doesn't advance the work. */
const FEW_WORDS = 12;

/** Two members hand the work, or kind words, to and fro, and nothing is done between. */
export const pingPong: Detector = ({ activations }) =>
  [...activations.values()].flatMap((own) => {
    const handoffs = alternating(
      of(own, "handed_off").map((event) => ({ event, from: event.payload.from, to: event.payload.to })),
      own,
    );
    const posts = alternating(
      of(own, "post_sent").map((event) => ({
        event,
        from: event.payload.from,
        to: event.payload.to,
        isEmpty:
          event.payload.message.trim().split(/\s+/).length <= FEW_WORDS &&
          event.payload.outcome === undefined,
      })),
      own,
    );
    const found: Finding[] = [];
    if (handoffs)
      found.push({
        kind: "ping_pong",
        ...placeOf(handoffs.event),
        said: `${named(handoffs.from)} and ${named(handoffs.to)} handed off to each other ${TURNS} times without doing anything in between.`,
        advice: "Say in both roles who does what, or remove the handoff from the agent that should do it.",
      });
    if (posts)
      found.push({
        kind: "ping_pong",
        ...placeOf(posts.event),
        said: `${named(posts.from)} and ${named(posts.to)} exchanged ${TURNS} short messages without doing anything in between.`,
        advice:
          "Tell them to only write what moves the work forward, and to end when there is nothing to add.",
      });
    return found;
  });

interface Exchange {
  event: RunEvent;
  from: string;
  to: string;
  isEmpty?: boolean;
}

/**
 * The exchange that completes TURNS messages between the same two agents without work in between; undefined if there is
 * none.
 */
function alternating(all: readonly Exchange[], own: readonly RunEvent[]): Exchange | undefined {
  let streak: Exchange[] = [];
  for (const one of all) {
    const before = streak.at(-1);
    const goesOn =
      before !== undefined &&
      before.from === one.to &&
      before.to === one.from &&
      one.isEmpty !== false &&
      !own.some((event) => event.seq > before.event.seq && event.seq < one.event.seq && isWork(event));
    streak = goesOn ? [...streak, one] : one.isEmpty === false ? [] : [one];
    if (streak.length === TURNS) return one;
  }
  return undefined;
}

const TALK = /^(handoff|finish|reject_task|post|board|message|ask)/;

const isWork = (event: RunEvent): boolean =>
  event.type === "artifact_created" ||
  event.type === "task_status_changed" ||
  (event.type === "tool_call_completed" && !TALK.test(event.payload.tool_name));
