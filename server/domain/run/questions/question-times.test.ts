import { expect, test } from "vitest";
import type { Interaction } from "../crew-state";
import { type Due, nextDue, timesOf, USUAL_PEOPLE } from "./question-times";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** A question of the time 0. */
const question = (
  more: Partial<Interaction["requested"]>,
  since: Partial<Interaction> = {},
): Interaction => ({
  id: "q",
  node_id: "n",
  activation_id: "n#1",
  status: "open",
  requested_at: 0,
  requested: {
    interaction_id: "q",
    kind: "approval",
    title: "Go on?",
    why: "",
    fingerprint: "f",
    ...timesOf(more, USUAL_PEOPLE, 0),
    ...more,
  },
  ...since,
});

/** Everything that happens to a question that nobody ever answers. */
function story(asked: Interaction): string[] {
  const lines: string[] = [];
  let open = asked;
  for (let due: Due = nextDue(open); ; due = nextDue(open)) {
    lines.push(`${due.at / MINUTE} min: ${due.what}${due.what === "escalate" ? ` to ${due.to}` : ""}`);
    if (due.what === "expire") return lines;
    if (due.what === "remind") open = { ...open, reminded_at: due.at };
    else
      open = {
        ...open,
        requested:
          due.expires_in === undefined
            ? open.requested
            : { ...open.requested, expires_at: due.at + due.expires_in },
        escalated: [...(open.escalated ?? []), { level: due.level, to: due.to, at: due.at }],
      };
  }
}

test("a question is open for a week by default, with a reminder halfway through", () => {
  expect(story(question({}))).toEqual([
    `${(3.5 * DAY) / MINUTE} min: remind`,
    `${(7 * DAY) / MINUTE} min: expire`,
  ]);
});

test("a question with a short timeout sends no reminder", () => {
  expect(story(question({ timeout_s: 60 }))).toEqual(["1 min: expire"]);
});

test("a question escalates at the times of its levels and still expires at its timeout", () => {
  const escalation = [
    { after_s: 600, to: "the lead" },
    { after_s: 2400, to: "the boss" },
    { after_s: 9999, to: "nobody in time" },
  ];
  expect(story(question({ timeout_s: 3600, escalation }))).toEqual([
    "10 min: escalate to the lead",
    "30 min: remind",
    "40 min: escalate to the boss",
    "60 min: expire",
  ]);
});

test("if the timeout escalates, each further level gets the whole timeout again", () => {
  const escalation = [
    { after_s: 7200, to: "the lead" },
    { after_s: 9999, to: "the boss" },
  ];
  expect(story(question({ timeout_s: 3600, on_timeout: "escalate", escalation }))).toEqual([
    "30 min: remind",
    "60 min: escalate to the lead",
    "120 min: escalate to the boss",
    "180 min: expire",
  ]);
});
