import { readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { RunEvent } from "../events";
import { findingsOf } from ".";
import { by, checked, crew, done, event, log, modelReply, parsed, planned, post, tool } from "./testing";

const folder = path.resolve(import.meta.dirname, "../../../runner/journals");
const recorded = JSON.parse(gunzipSync(readFileSync(path.join(folder, "v2.json.gz"))).toString("utf8")) as {
  name: string;
  turns: { events: RunEvent[] }[];
}[];

const eventsOf = ({ turns }: (typeof recorded)[number]) => turns.flatMap(({ events }) => events);
/** Its worker, a script, gives after the checker's "not yet" what it gave before: that is true of it. */
const NOT_CLEAN = "crew: custom";

test("a recorded run has a finding for rejected work that came back unchanged", () => {
  const [custom] = recorded.filter(({ name }) => name === NOT_CLEAN).map((one) => findingsOf(eventsOf(one)));
  expect(custom?.map(({ kind, seq, agent_id }) => [kind, seq, agent_id])).toEqual([
    ["feedback_unread", 37, "worker"],
  ]);
  expect(recorded.filter(({ name }) => name.startsWith("template")).length).toBeGreaterThan(10);
});

test.each(recorded.filter(({ name }) => name !== NOT_CLEAN).map((one) => [one.name, eventsOf(one)] as const))(
  "a recorded run that went well has no findings: %s",
  (_name, events) => {
    expect(findingsOf(events)).toEqual([]);
  },
);

test("a finding has a place, a description and advice", () => {
  const refused = event(
    "tool_call_refused",
    { tool_name: "publish", args: {}, status_code: 403, reason: "Your role may not." },
    { ...by("writer"), call_id: "x" },
  );
  expect(findingsOf(log(refused))).toEqual([
    {
      kind: "wrong_tool",
      seq: 2,
      node_id: "work",
      activation_id: "work#1",
      agent_id: "writer",
      said: "writer called publish, which belongs to Editor.",
      advice: "Assign the task to Editor, allow delegation, or add the tool to this role.",
    },
  ]);
});

test("correct work has no findings: a check after the last task, a repaired answer, applied feedback", () => {
  const heard = log(
    crew,
    modelReply("writer", "A draft."),
    post("editor", "writer", "Add an example.", { outcome: "reject" }),
    modelReply("writer", "A draft with an example."),
    done,
  );
  const inTime = log(
    crew,
    planned(),
    event("task_status_changed", { from: "in_progress", to: "completed" }, { task_id: "draft" }),
    checked(true),
    done,
  );
  const pages = log(
    ...[1, 2, 3, 4].flatMap((page) => tool("writer", "look", { page })),
    ...tool("editor", "look", { page: 1 }),
  );
  const declined = log(
    event(
      "agent_started",
      { role_name: "Writer", output_keys: [], limits: { max_iterations: 3 }, tools: ["write"] },
      by("writer"),
    ),
    event(
      "tool_call_refused",
      { tool_name: "write", args: {}, status_code: 403, reason: "A person rejected this call" },
      { ...by("writer"), call_id: "x" },
    ),
  );
  expect([heard, inTime, pages, declined, log(parsed)].map((events) => findingsOf(events))).toEqual([
    [],
    [],
    [],
    [],
    [],
  ]);
});
