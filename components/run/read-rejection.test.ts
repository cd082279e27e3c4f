import { TRPCClientError } from "@trpc/client";
import { expect, test } from "vitest";
import { readRejection } from "./read-rejection";

const rejectedWith = (detail: unknown) =>
  TRPCClientError.from({
    error: { message: "This run was not started.", code: -32600, data: { code: "BAD_REQUEST", detail } },
  });

test("a rejection shows the invalid input and the location in the workflow", () => {
  const error = { key: "topic", message: "Required." };
  const problem = {
    severity: "error",
    code: "E_ROLE",
    message: "There is no such role.",
    at: { kind: "node", id: "ask" },
  };
  expect(readRejection(rejectedWith({ errors: [error], problems: [problem] }))).toEqual({
    message: "This run was not started.",
    errors: [error],
    problems: [problem],
  });
});

test("unknown details of a rejection are omitted and its message is kept", () => {
  const sentence = { message: "This run was not started.", errors: [], problems: [] };
  expect(
    readRejection(rejectedWith({ errors: ["topic", { key: "topic" }], problems: [{ message: "?" }] })),
  ).toEqual(sentence);
  expect(readRejection(rejectedWith(null))).toEqual(sentence);
  expect(readRejection(new Error("The network is away."))).toEqual({
    message: "The network is away.",
    errors: [],
    problems: [],
  });
});
