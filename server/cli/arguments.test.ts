import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test, vi } from "vitest";
import { readCommand, UsageError } from "./arguments";

describe("command line arguments", () => {
  test("the arguments accept a file, an input and limits", () => {
    expect(
      readCommand(["a.json", "--input", '{"user_request":"x"}', "--config", '{"max_steps":5}', "--json"]),
    ).toEqual({
      file: "a.json",
      input: { user_request: "x" },
      config: { max_steps: 5 },
      capabilities: false,
      json: true,
      quiet: false,
      yes: false,
      speed: null,
    });
  });

  test("the input can be read from a file", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "troupe-"));
    writeFileSync(path.join(folder, "input.json"), '{"user_request":"x"}');
    vi.stubEnv("TROUPE_CALLED_FROM", folder);
    expect(readCommand(["a.json", "--input", "@input.json"])?.input).toEqual({ user_request: "x" });
    expect(() => readCommand(["a.json", "--input", "@missing.json"])).toThrow(
      "--input: file not found: missing.json.",
    );
    vi.unstubAllEnvs();
  });

  test("options that aren't given are omitted, so that the workflow's settings apply", () => {
    expect(
      readCommand(["a.json", "--step", "--stop-at", "b", "--break", "end", "--break", "inc:state.n == 2"])
        ?.config,
    ).toEqual({
      mode: "step",
      stop_at: "b",
      breakpoints: [
        { on: "node_start", node_id: "end" },
        { on: "node_start", node_id: "inc", condition: "state.n == 2" },
      ],
    });
    expect(readCommand(["a.json"])).toMatchObject({ input: {}, config: {}, speed: null });
  });

  test("--help asks for help", () => {
    expect(readCommand(["--help"])).toBeNull();
  });

  test.each([
    [[], "Missing workflow file."],
    [["a.json", "b.json"], 'Unexpected argument "b.json". Pass one file.'],
    [
      ["a.json", "--input", "{"],
      "--input is not valid JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2).",
    ],
    [["a.json", "--input", "[1]"], "--input must be a JSON object"],
    [["a.json", "--config", '{"max_steps":0}'], "--config: "],
    [["a.json", "--break", "inc:state.n =="], "--break inc:state.n ==: "],
    [["a.json", "--speed", "fast"], "--speed must be a number from 0 to 100."],
    [["a.json", "--loud"], "Unknown option '--loud'"],
  ])("the arguments %j are rejected with a message", (argv, message) => {
    expect(() => readCommand(argv)).toThrow(UsageError);
    expect(() => readCommand(argv)).toThrow(message);
  });
});
