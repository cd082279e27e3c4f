import { expect, test } from "vitest";
import type { RunEvent } from "@/server/domain/run/events";
import { newAnswering, type Terminal } from "./answering";

const asked = {
  seq: 1,
  ts: 0,
  type: "interaction_requested",
  payload: {
    interaction_id: "n#1/1/tool1",
    kind: "tool_confirmation",
    title: "Keeper wants to use file_write",
    why: "Its risk is high.",
    fingerprint: "f",
    expires_at: 1,
  },
} satisfies RunEvent;

/** Where nobody sits: whatever is asked there fails. */
const NOBODY: Terminal = { print() {}, ask: () => Promise.reject(new Error("Nobody sits there.")) };

test.each([
  ["yes", { answer: "approve", by: "terminal" }],
  ["no", { answer: "reject", message: expect.stringContaining("--yes"), by: "terminal" }],
] as const)("a confirmation without a terminal is answered with %s, for exactly that call", (how, answer) => {
  const given: unknown[] = [];
  const answering = newAnswering({
    steering: { answer: (...all) => given.push(all) > 0 },
    run_id: "run_1",
    how,
    terminal: NOBODY,
  });
  answering.events([{ seq: 0, ts: 0, type: "run_started", payload: {} }, asked]);
  expect(given).toEqual([["run_1", "n#1/1/tool1", "f", answer]]);
});

const form = {
  ...asked,
  payload: {
    ...asked.payload,
    kind: "question",
    title: "“travel” asks you something",
    asks: {
      from: "travel",
      message: "For whom?",
      schema: {
        properties: {
          name: { type: "string", title: "Name", minLength: 2 },
          age: { type: "integer" },
          seat: { oneOf: ["a", "w"].map((seat) => ({ const: seat, title: `Seat ${seat}` })), default: "a" },
          meals: { type: "array", items: { enum: ["soup", "cake"] } },
          quiet: { type: "boolean", default: true },
        },
        required: ["name"],
      },
    },
  },
} satisfies RunEvent;
const page = {
  ...form,
  payload: {
    ...form.payload,
    asks: { from: "travel", message: "Pay", url: "https://user@pay.example/x\u202e" },
  },
} satisfies RunEvent;

/** A person who writes these lines, one to each question. */
async function typing(event: RunEvent, ...lines: string[]) {
  const shown: string[] = [];
  const given: unknown[] = [];
  const terminal: Terminal = {
    print: (text) => void shown.push(text),
    ask: async (prompt) => {
      shown.push(prompt);
      return lines.shift() ?? "";
    },
  };
  newAnswering({
    steering: { answer: (_run, _id, _print, value) => given.push(value) > 0 },
    run_id: "r",
    how: "ask",
    terminal,
  }).events([event]);
  await expect.poll(() => given).toHaveLength(1);
  return { answer: given[0], shown: shown.join("\n"), left: lines };
}

test("the terminal asks for the fields of a form in turn, each until it is valid", async () => {
  const { answer, shown, left } = await typing(
    form,
    "y",
    "",
    "A",
    "Ann",
    "old",
    "41",
    "Seat w",
    "cake, soup",
    "-",
  );
  expect(answer).toEqual({
    answer: "approve",
    content: { name: "Ann", age: 41, seat: "w", meals: ["cake", "soup"], quiet: null },
    by: "terminal",
  });
  expect(left).toEqual([]);
  expect(shown).toContain("Required.");
  expect(shown).toContain("Enter for a, - to skip");
  expect(shown).toContain("Don't enter passwords or keys.");
});

test("a question at the terminal can be declined or cancelled, and links show their host", async () => {
  expect((await typing(form, "n")).answer).toEqual({ answer: "reject", by: "terminal" });
  expect((await typing(form, "")).answer).toEqual({ answer: "cancel", by: "terminal" });
  const { answer, shown } = await typing(page, "y");
  expect(answer).toEqual({ answer: "approve", by: "terminal" });
  expect(shown).toContain("a page on pay.example in");
  expect(shown).not.toContain("\u202e");
});

test("only a form without required fields is answered without a terminal", () => {
  const given: unknown[] = [];
  const answering = newAnswering({
    steering: { answer: (...all) => given.push(all[3]) > 0 },
    run_id: "r",
    how: "yes",
    terminal: NOBODY,
  });
  const { properties } = form.payload.asks.schema;
  const optional = {
    ...form,
    payload: { ...form.payload, asks: { ...form.payload.asks, schema: { properties } } },
  };
  answering.events([form, optional, page]);
  expect(given).toMatchObject([
    { answer: "reject", message: expect.stringContaining("--yes") },
    { answer: "approve", content: {} },
    { answer: "reject", message: expect.stringContaining("--yes") },
  ]);
});

const gate = {
  ...asked,
  payload: {
    ...asked.payload,
    kind: "approval",
    title: "Send it?",
    body: "To Ann",
    draft: "Dear Ann",
    options: ["approved", "rejected"].map((label) => ({ label, value: label })),
  },
} satisfies RunEvent;

test("an approval at the terminal asks for a draft, an answer and a comment", async () => {
  const { answer, shown } = await typing(gate, "Dear", "Anna", ".", "maybe", "1", "fine");
  expect(answer).toEqual({
    answer: "chosen",
    option: "approved",
    value: "Dear\nAnna",
    message: "fine",
    by: "terminal",
  });
  expect(shown).toContain("To Ann");
  expect(shown).toContain("Enter the number or name of an option.");
});

test("an unchanged draft is kept, and an answer can be given by name", async () => {
  const { answer } = await typing(gate, "", "Rejected", "");
  expect(answer).toEqual({ answer: "chosen", option: "rejected", by: "terminal" });
});

test.each([
  ["yes", { answer: "chosen", option: "approved", by: "terminal" }],
  ["no", { answer: "reject", message: expect.stringContaining("--yes"), by: "terminal" }],
] as const)("an approval without a terminal is answered with %s", (how, answer) => {
  const given: unknown[] = [];
  const answering = newAnswering({
    steering: { answer: (...all) => given.push(all[3]) > 0 },
    run_id: "run_1",
    how,
    terminal: NOBODY,
  });
  answering.events([gate]);
  expect(given).toEqual([answer]);
});

test("the terminal asks for a workflow's input form field by field", async () => {
  const asking = {
    ...asked,
    payload: {
      ...asked.payload,
      kind: "input",
      response_schema: {
        properties: { name: { type: "string" }, where: { type: "object" } },
        required: ["name"],
      },
    },
  } satisfies RunEvent;
  const { answer } = await typing(asking, "y", "Ann", '{"city": "Ulm"}');
  expect(answer).toEqual({
    answer: "given",
    value: { name: "Ann", where: { city: "Ulm" } },
    by: "terminal",
  });
});
