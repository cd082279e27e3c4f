import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { USUAL_CONFIRMATION } from "@/server/domain/agent/outcome";
import { installationRules, isLoopback, readSettings, settingsTable } from "./settings";

describe("settings", () => {
  test("nothing has to be set", () => {
    expect(readSettings({})).toEqual({
      PORT: 3000,
      HOST: "127.0.0.1",
      TROUPE_DATA_DIR: "./data",
      TROUPE_START_LINK: false,
      TROUPE_ENABLE_CODE: false,
      TROUPE_CONFIRMATION: "never",
      TROUPE_ANSWER_HOURS: 168,
      TROUPE_DELEGATE_TOOLS: "own",
      TROUPE_MAX_RUNS: 16,
      TROUPE_MAX_QUEUED: 1000,
      TROUPE_MAX_STREAMS: 24,
      TROUPE_OFFLINE_SPEED: 1,
    });
  });

  test("an empty value counts as none", () => {
    expect(readSettings({ PORT: "", OPENAI_API_KEY: " " })).toEqual(readSettings({}));
  });

  test("a wrong value is named in a sentence", () => {
    expect(() => readSettings({ PORT: "http" })).toThrow("PORT must be a number from 1 to 65535.");
    expect(() => readSettings({ PORT: "70000", TROUPE_PASSWORD: "short" })).toThrow(
      /PORT must .*\n.*at least 8 characters/,
    );
    expect(() => readSettings({ TROUPE_PUBLIC_URL: "example" })).toThrow(
      "TROUPE_PUBLIC_URL must be an address",
    );
  });

  test("another address than this machine's own needs a password", () => {
    expect(() => readSettings({ HOST: "0.0.0.0" })).toThrow("Set TROUPE_PASSWORD as well.");
    expect(readSettings({ HOST: "0.0.0.0", TROUPE_PASSWORD: "long enough" }).HOST).toBe("0.0.0.0");
    expect(["127.0.0.1", "localhost", "::1", "[::1]", "127.1.2.3"].map(isLoopback)).not.toContain(false);
    expect(["0.0.0.0", "::", "192.168.0.4", "127.0.0.1.example.org"].map(isLoopback)).not.toContain(true);
  });

  test("what they say for every run is strict as far as somebody set it", () => {
    const rules = (env: Record<string, string>) => installationRules(readSettings(env));
    expect(rules({})).toEqual({});
    expect(rules({ TROUPE_CONFIRMATION: "always" })).toEqual({ confirmation: { kind: "always" } });
    expect(
      rules({
        TROUPE_CONFIRMATION: "risky",
        TROUPE_ALLOWED_DESTINATIONS: "api.example.org, team@example.org",
      }),
    ).toEqual({
      confirmation: USUAL_CONFIRMATION,
      destinations: ["api.example.org", "team@example.org"],
    });
    expect(() => rules({ TROUPE_CONFIRMATION: "sometimes" })).toThrow("never, risky or always");
  });

  test("the README's table says the same", () => {
    const readme = readFileSync(path.join(import.meta.dirname, "../README.md"), "utf8");
    const rows = settingsTable().map(
      ({ name, fallback, about }) =>
        `| \`${name}\` | ${fallback === null ? "" : `\`${fallback}\``} | ${about} |`,
    );
    expect(rows.filter((row) => !readme.includes(row))).toEqual([]);
  });
});
