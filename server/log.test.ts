import { afterEach, expect, test, vi } from "vitest";
import { logConsole, logUnexpected } from "./log";
import { registerSecret } from "./secrets/redact";

afterEach(() => void vi.restoreAllMocks());

test("console output of packages becomes single log lines without secrets or control characters", () => {
  const written: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => written.push(String(line)) > 0);
  registerSecret("a-key-that-nobody-may-see");
  const printing = { debug() {}, error() {}, info() {}, log() {}, trace() {}, warn() {} };
  logConsole(printing);
  const methods = printing as unknown as Record<string, (...args: unknown[]) => void>;
  methods.error?.("no image at %s", "/a\nFORGED\u001b[2J\u009b1m", { key: "a-key-that-nobody-may-see" });
  methods.warn?.(new Error("broke"));
  const lines = written.join("").split("\n").slice(0, -1);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: "error", message: expect.stringMatching(/^no image at \/a\nFORGED/) },
    { level: "warn", message: expect.stringMatching(/^Error: broke\n/) },
  ]);
  expect(written.join("")).not.toMatch(/nobody-may-see|[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test.each([
  ["an error with a stack", new Error("broke"), /^Error: broke\n +at /],
  ["an error without a stack", Object.assign(new Error("broke"), { stack: undefined }), /^Error: broke$/],
  ["another thrown value", { toString: (): string => "odd" }, /^odd$/],
])("an unexpected error is logged with the id that is shown: %s", (_what, error, expected) => {
  const written: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => written.push(String(line)) > 0);
  const id = logUnexpected(error, "GET /runs");
  expect(id).toMatch(/^err_[0-9a-f]{12}$/);
  expect(written.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      level: "error",
      message: "An unexpected error occurred.",
      id,
      where: "GET /runs",
      error: expect.stringMatching(expected) as string,
    },
  ]);
});

test("control characters in the log are escaped as four hex digits", () => {
  const written: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => written.push(String(line)) > 0);
  const printing = { debug() {}, error() {}, info() {}, log() {}, trace() {}, warn() {} };
  logConsole(printing);
  const methods = printing as unknown as Record<string, (...args: unknown[]) => void>;
  for (const method of ["debug", "info", "log", "trace"]) methods[method]?.("\u007f\u009b\u2028");
  expect(written).toHaveLength(4);
  expect(written.map((line) => line.replace(/"at":"[^"]*"/, '"at":""'))).toEqual(
    Array(4).fill('{"at":"","level":"info","message":"\\u007f\\u009b\\u2028"}\n'),
  );
});
