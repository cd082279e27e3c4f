import { describe, expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { keyFate, kindsOf, noteGrants, toolsAskedAbout } from "./audit";
import type { Payloads } from "./events";
import { answerText } from "./questions/question-text";
import { notOpen } from "./questions/tool-question";
import { differenceLines, missOf, placeOf, type RequestDifference } from "./request-difference";
import { placeAfter } from "./run-order";

const options = [
  { label: "Ship it", value: "ship" },
  { label: "Yes", value: "y" },
];

test("an answer's text for agents has the author, the choice, the value and the message", () => {
  const textOf = (more: object) =>
    answerText({ by: "ann", answer: "chosen", option: "ship", ...more }, { options });
  expect(textOf({})).toBe("ann answered: Ship it.");
  expect(textOf({ value: "Dear" })).toBe("ann answered: Ship it.\nDear");
  expect(textOf({ value: { n: 1 }, message: "So." })).toBe('ann answered: Ship it.\n{"n":1}\nSo.');
  expect(textOf({ message: "So." })).toBe("ann answered: Ship it.\nSo.");
});

test("a late answer is rejected with who answered first, or that no one did in time", () => {
  const given = (answer: Payloads["interaction_answered"]["answer"], by = "ann", option?: string) =>
    notOpen({ answer, by, ...(option ? { option } : {}) });
  expect(notOpen(null)).toBe("This question has already been answered, or is no longer open.");
  expect(given("expired")).toBe("No one answered this question in time, so it is no longer open.");
  expect(given("approve_always")).toBe("ann has already answered this question (approve always).");
  expect(given("reject", "user")).toBe("Someone in the app has already answered this question (reject).");
  expect(given("chosen", "bob", "ship")).toBe("bob has already answered this question (ship).");
});

describe("a request that was not recorded", () => {
  const difference: RequestDifference = {
    kind: "model",
    nearest: 0,
    changes: [
      { path: "messages[0].content", recorded: "a", asked: null, line: 4 },
      { path: "model", recorded: null, asked: "b" },
    ],
    more: 0,
    sentence: "It asked something else.",
  };
  test("a request difference is listed place by place, with the number of further differences", () => {
    const lines = [
      "messages[0].content, line 4",
      "  recorded: a",
      "  asked:    nothing",
      "model",
      "  recorded: nothing",
      "  asked:    b",
    ];
    expect(differenceLines(difference)).toEqual(lines);
    expect(differenceLines({ ...difference, more: 2 })).toEqual([...lines, "and 2 more"]);
    expect(difference.changes.map(placeOf)).toEqual(["messages[0].content, line 4", "model"]);
  });

  test("a request difference is read only from the error of a strict replay", () => {
    const detail = difference as never;
    expect(missOf({ code: "NOT_RECORDED", detail })).toEqual(difference);
    expect(missOf({ code: "CONFIG", detail })).toBeNull();
    expect(missOf({ code: "NOT_RECORDED", detail: { kind: "x" } })).toBeNull();
    expect(missOf({ code: "NOT_RECORDED" })).toBeNull();
    expect(missOf(undefined)).toBeNull();
  });
});

test("a list of runs continues after the last run's sort value, with 0 for a missing value", () => {
  const run = { id: "r", created_at: 5, started_at: 10, finished_at: 30, cost_usd: 0.5 };
  const places = (of: typeof run | { [K in keyof typeof run]: (typeof run)[K] | null }) =>
    (["newest", "oldest", "costliest", "longest"] as const).map(
      (order) => placeAfter(of as never, order).value,
    );
  expect(places(run)).toEqual([5, 5, 0.5, 20]);
  expect(places({ ...run, cost_usd: null, finished_at: null })).toEqual([5, 5, 0, 0]);
  expect(places({ ...run, started_at: null })).toEqual([5, 5, 0.5, 0]);
  expect(placeAfter(run, "longest")).toEqual({ id: "r", value: 20 });
});

describe("the audit log", () => {
  test("an audit entry about a key says how it changed without revealing it", () => {
    const fates = [
      keyFate("k", false, true),
      keyFate("k", true, true),
      keyFate(undefined, true, true),
      keyFate(null, true, false),
      keyFate(" ", true, true),
      keyFate(undefined, false, false),
      keyFate(" ", false, false),
    ];
    expect(fates).toEqual(["set", "replaced", "kept", "removed", "kept", "none", "none"]);
    expect(kindsOf("roles")).toEqual(["role_tools_changed"]);
  });

  test("an audit entry names the tools that a question was about", () => {
    const call = (tool_name: string) => ({ tool_name, args: {}, risk: "LOW" as const, why: "" });
    const asked = {
      interaction_id: "q",
      kind: "tool_confirmation" as const,
      title: "",
      why: "",
      fingerprint: "",
      expires_at: 1,
    };
    expect(toolsAskedAbout(undefined)).toBeUndefined();
    expect(toolsAskedAbout(asked)).toBeUndefined();
    expect(toolsAskedAbout({ ...asked, tool_name: "mail" })).toBe("mail");
    expect(toolsAskedAbout({ ...asked, calls: [call("mail"), call("web")] })).toBe("mail, web");
  });

  test("an audit entry lists the tools that a role gained and lost, if any", () => {
    const role = (...tools: string[]) => RoleDefinition.parse({ name: "Writer", tools });
    const notes: unknown[] = [];
    const note = (kind: string, detail?: object) => notes.push([kind, detail]);
    noteGrants(note, role("a", "b"), role("b", "c"), { workflow: "w" });
    noteGrants(note, undefined, role("a"));
    noteGrants(note, role("a"), undefined);
    noteGrants(note, role("a", "b"), role("b", "a"));
    noteGrants(note, undefined, undefined);
    expect(notes).toEqual([
      ["role_tools_changed", { role: "Writer", added: ["c"], removed: ["a"], workflow: "w" }],
      ["role_tools_changed", { role: "Writer", added: ["a"], removed: [] }],
      ["role_tools_changed", { role: "Writer", added: [], removed: ["a"] }],
    ]);
  });
});
