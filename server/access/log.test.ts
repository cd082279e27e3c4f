import { expect, test, vi } from "vitest";
import { logConsole } from "./log";
import { registerSecret } from "./redact";

test("what packages print becomes one line of the log each, without secrets and without what a terminal acts on", () => {
  const written: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => written.push(String(line)) > 0);
  registerSecret("a-key-that-nobody-may-see");
  const printing = { debug() {}, error() {}, info() {}, log() {}, trace() {}, warn() {} };
  logConsole(printing);
  const say = printing as unknown as Record<string, (...words: unknown[]) => void>;
  say.error?.("no image at %s", "/a\nFORGED\u001b[2J\u009b1m", { key: "a-key-that-nobody-may-see" });
  say.warn?.(new Error("broke"));
  const lines = written.join("").split("\n").slice(0, -1);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: "error", message: expect.stringMatching(/^no image at \/a\nFORGED/) },
    { level: "warn", message: expect.stringMatching(/^Error: broke\n/) },
  ]);
  expect(written.join("")).not.toMatch(/nobody-may-see|[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});
