import { describe, expect, test } from "vitest";
import { SIZES } from "@/server/domain/base/sizes";
import { answerText, TEXT_ANSWER } from "@/server/domain/tool/person-question";
import { noOf, optionNamed, type ReadAnswer, readAnswer, SentAnswer, yesOf } from "./person-answer";

type Asked = Parameters<typeof readAnswer>[0];
const options = [
  { label: "Send it", value: "send" },
  { label: "Yes", value: "YES" },
  { label: "No", value: "never" },
];
const form = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer", default: 1 } },
  required: ["name"],
};
const asks = { from: "travel", message: "For whom?", schema: form };
const given = (answer: object): ReadAnswer => ({ ok: true, answer: answer as never });
const rejected = (key: string, message: string, isForm = false): ReadAnswer => ({
  ok: false,
  isForm,
  errors: [{ key, message }],
});
const tooLong = { pad: "x".repeat(SIZES.event / 2) };
const fillIn = rejected("name", "Required.");
const yesOrNo = rejected("answer", "Answer with approve, approve_always, reject or cancel.");
const oneOf = rejected("answer", "Answer with one of: Send it, Yes, No.");

describe("yes-or-no questions", () => {
  const question: Asked = { kind: "tool_confirmation" };
  test.each<[string, Asked, SentAnswer, ReadAnswer]>([
    [
      "yes with a message",
      question,
      { answer: "approve", message: "Fine" },
      given({ answer: "approve", message: "Fine" }),
    ],
    [
      "no to some of the calls",
      question,
      { answer: "reject", calls: [1] },
      given({ answer: "reject", calls: [1] }),
    ],
    ["an unknown word", question, { answer: "maybe" }, yesOrNo],
    ["no answer", question, {}, yesOrNo],
    ["the word reserved for options", question, { answer: "chosen" }, yesOrNo],
    ["the word reserved for forms", question, { answer: "given" }, yesOrNo],
    [
      "a value",
      question,
      { answer: "approve", value: 0 },
      rejected("value", "Answer this question with approve or reject, without a value."),
    ],
    [
      "cancel",
      question,
      { answer: "cancel" },
      rejected("answer", "Answer this question with approve or reject.", true),
    ],
    [
      "yes to a tool's form",
      { kind: "question", asks },
      { answer: "approve", content: { name: "Ann" } },
      given({ answer: "approve", content: { name: "Ann" } }),
    ],
    [
      "yes to a tool's form that is empty",
      { kind: "question", asks },
      { answer: "approve" },
      { ...fillIn, isForm: true } as ReadAnswer,
    ],
  ])("an answer to a yes-or-no question is read: %s", (_what, asked, sent, read) => {
    expect(readAnswer(asked, sent)).toEqual(read);
  });
});

describe("multiple-choice questions", () => {
  const question: Asked = { kind: "approval", options };
  const drafted: Asked = { ...question, draft: "Dear aunt" };
  const filled: Asked = { ...question, response_schema: form };
  const onlyOptions = rejected("answer", "Answer this question with one of its options.");
  const noObject = rejected("value", "Pass the form's fields as an object.");
  test.each<[string, Asked, SentAnswer, ReadAnswer]>([
    [
      "by its label",
      question,
      { answer: "Send it", message: "Go" },
      given({ answer: "chosen", option: "send", message: "Go" }),
    ],
    [
      "with a null value",
      question,
      { answer: "send", value: null },
      given({ answer: "chosen", option: "send" }),
    ],
    ["that does not exist", question, { answer: "later" }, oneOf],
    ["that is missing", question, {}, oneOf],
    ["with content", question, { answer: "send", content: {} }, onlyOptions],
    ["with calls", question, { answer: "send", calls: [0] }, onlyOptions],
    [
      "with an unexpected value",
      question,
      { answer: "send", value: "x" },
      rejected("value", "Answer this question with one of its options, without a value."),
    ],
    [
      "with an unchanged draft",
      drafted,
      { answer: "send", value: "Dear aunt" },
      given({ answer: "chosen", option: "send" }),
    ],
    [
      "with an edited draft",
      drafted,
      { answer: "send", value: "Dear uncle" },
      given({ answer: "chosen", option: "send", value: "Dear uncle" }),
    ],
    [
      "with a draft that is not text",
      drafted,
      { answer: "send", value: 1 },
      rejected("value", "The edited draft must be text."),
    ],
    [
      "with a draft that is too long",
      drafted,
      { answer: "send", value: tooLong.pad },
      rejected("value", expect.stringMatching(/This is too long/)),
    ],
    [
      "with a form",
      filled,
      { answer: "send", value: { name: "Ann" }, message: "Go" },
      given({ answer: "chosen", option: "send", value: { name: "Ann", age: 1 }, message: "Go" }),
    ],
    ["with an incomplete form", filled, { answer: "send" }, fillIn],
    ["with a value that is not a form", filled, { answer: "send", value: "Ann" }, noObject],
  ])("an answer with an option is read: %s", (_what, asked, sent, read) => {
    expect(readAnswer(asked, sent)).toEqual(read);
  });

  test("an edited draft may be as long as an event can store", () => {
    const size = (length: number) => readAnswer(drafted, { answer: "send", value: "x".repeat(length) }).ok;
    const most = SIZES.event / 2;
    const longest = [0, 1, 2, 3, 4].map((less) => most - less).find(size) ?? 0;
    expect([size(longest), size(longest + 1), most - longest < 4]).toEqual([true, false, true]);
  });
});

describe("forms", () => {
  const question: Asked = { kind: "input", response_schema: form };
  const full = given({ answer: "given", value: { name: "Ann", age: 1 } });
  const value = { name: "Ann" };
  const orDecline = rejected(
    "answer",
    "Pass the form's values as `value`, or set `answer` to `reject` to decline.",
  );
  test.each<[string, Asked, SentAnswer, ReadAnswer]>([
    ["without an answer", question, { value }, full],
    ...["given", "submit", "submitted", "answer", "answered", "approve"].map(
      (answer): [string, Asked, SentAnswer, ReadAnswer] => [
        `as ${answer}`,
        question,
        { answer, value },
        full,
      ],
    ),
    [
      "as content with a message",
      question,
      { content: value, message: "So" },
      given({ answer: "given", value: { name: "Ann", age: 1 }, message: "So" }),
    ],
    [
      "that is declined",
      question,
      { answer: "reject", message: "Why?", value: "x" },
      given({ answer: "reject", message: "Why?" }),
    ],
    ["that is left empty", question, {}, fillIn],
    [
      "with calls",
      question,
      { value, calls: [0] },
      rejected("calls", "Answer this question by filling in its form."),
    ],
    ["with an unknown answer", question, { answer: "cancel", value }, orDecline],
    [
      "that is not an object",
      question,
      { value: [value] },
      rejected("value", "Pass the form's fields as an object."),
    ],
    [
      "that is too long",
      question,
      { value: tooLong },
      rejected("value", expect.stringMatching(/This is too long/)),
    ],
    [
      "with a field of another type",
      question,
      { value: { name: 1 } },
      rejected("name", expect.stringContaining("text")),
    ],
  ])("an answer to a form is read: %s", (_what, asked, sent, read) => {
    expect(readAnswer(asked, sent)).toEqual(read);
  });
});

test("a question in words takes its answer as a value or a message, and may be left to the agent", () => {
  const question: Asked = { kind: "escalation", response_schema: TEXT_ANSWER };
  const asText = given({ answer: "given", value: { message: "Ghent" } });
  expect(readAnswer(question, { value: { message: "Ghent" } })).toMatchObject(asText);
  expect(readAnswer(question, { answer: "approve", message: "Ghent" })).toMatchObject(asText);
  expect(readAnswer(question, { answer: "approve" })).toEqual(given({ answer: "given", value: {} }));
  expect(readAnswer(question, { answer: "reject", message: "No" })).toEqual(
    given({ answer: "reject", message: "No" }),
  );
  expect(answerText({ value: { message: "Ghent" }, message: "Bruges" })).toBe("Ghent");
  expect(answerText({ value: "Ghent" })).toBeUndefined();
});

test("an option is found by its label or value, preferably in the same case, or by yes or no", () => {
  const found = (name: string, of = options) => optionNamed(of, name)?.value;
  expect(
    ["Send it", " SEND ", "yes", "YES", "approve", "Reject", "never", "approved", ""].map((name) =>
      found(name),
    ),
  ).toEqual(["send", "send", "YES", "YES", "YES", "never", "never", undefined, undefined]);
  const twice = [
    { label: "a", value: "1" },
    { label: "A", value: "2" },
  ];
  expect(found("A", twice)).toBe("2");
  expect(found("a", twice)).toBe("1");
  expect(found("reject", twice)).toBeUndefined();
  expect(found("approve", twice)).toBeUndefined();
  expect(yesOf(options)?.value).toBe("YES");
  expect(noOf(options)?.value).toBe("never");
  expect(yesOf(twice)).toBeUndefined();
  expect(noOf(twice)).toBeUndefined();
});

test("an answer field is optional, but must not be empty", () => {
  const ok = [
    {},
    { answer: "x" },
    { answer: "", value: 1 },
    { answer: "x".repeat(201) },
    { answer: "yes", calls: [0], message: "m" },
  ];
  expect(ok.map((sent) => SentAnswer.safeParse(sent).success)).toEqual([true, true, false, false, true]);
});
