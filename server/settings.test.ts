import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { USUAL_CONFIRMATION } from "@/server/domain/agent/outcome";
import { installationRules, isLoopback, readSettings, readWorkerSettings, settingsTable } from "./settings";

describe("settings", () => {
  test("all settings are optional", () => {
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
      TROUPE_ENGINE: "embedded",
      TROUPE_RESTATE_ADMIN: "http://127.0.0.1:9070",
      TROUPE_RESTATE_NODE_PORT: 5122,
      TROUPE_BALANCER_PORT: 9080,
      TROUPE_INTERNAL_PORT: 3010,
      TROUPE_INTERNAL_HOST: "127.0.0.1",
      TROUPE_CONTROL_URL: "http://127.0.0.1:3010",
      TROUPE_WORKER_PORT: 9081,
      TROUPE_WORKER_HOST: "127.0.0.1",
      TROUPE_WORKER_RUNS: 64,
      TROUPE_OFFLINE_SPEED: 1,
    });
  });

  test("an empty value counts as unset", () => {
    expect(readSettings({ PORT: "", OPENAI_API_KEY: " " })).toEqual(readSettings({}));
  });

  test("an invalid value is rejected with the setting's name", () => {
    expect(() => readSettings({ PORT: "http" })).toThrow("PORT must be a number from 1 to 65535.");
    expect(() => readSettings({ PORT: "70000", TROUPE_PASSWORD: "short" })).toThrow(
      /PORT must .*\n.*at least 8 characters/,
    );
    expect(() => readSettings({ TROUPE_PUBLIC_URL: "example" })).toThrow(
      "TROUPE_PUBLIC_URL must be a URL such as https://example.org.",
    );
  });

  test("listening on a non-loopback address requires a password", () => {
    expect(() => readSettings({ HOST: "0.0.0.0" })).toThrow("Set TROUPE_PASSWORD as well.");
    expect(readSettings({ HOST: "0.0.0.0", TROUPE_PASSWORD: "long enough" }).HOST).toBe("0.0.0.0");
    expect(["127.0.0.1", "localhost", "::1", "[::1]", "127.1.2.3"].map(isLoopback)).not.toContain(false);
    expect(["0.0.0.0", "::", "192.168.0.4", "127.0.0.1.example.org"].map(isLoopback)).not.toContain(true);
  });

  describe("settings for workers", () => {
    const keys = { TROUPE_SECRET_KEY: "k".repeat(43), TROUPE_WORKER_TOKEN: "t".repeat(32) };

    test("the server requires the secret key and worker token to use an engine", () => {
      expect(() => readSettings({ TROUPE_ENGINE: "restate" })).toThrow(
        "TROUPE_ENGINE=restate requires TROUPE_SECRET_KEY and TROUPE_WORKER_TOKEN: keys are sent to workers encrypted, and workers have to authenticate.",
      );
      expect(() => readSettings({ ...keys, TROUPE_ENGINE: "restate", TROUPE_SECRET_KEY: "" })).toThrow(
        "TROUPE_ENGINE=restate requires TROUPE_SECRET_KEY: keys are sent to workers encrypted, and workers have to authenticate.",
      );
      expect(readSettings({ ...keys, TROUPE_ENGINE: "restate" }).TROUPE_ENGINE).toBe("restate");
      expect(() => readSettings({ TROUPE_WORKER_TOKEN: "short" })).toThrow(
        "TROUPE_WORKER_TOKEN must have at least 32 characters.",
      );
    });

    test("opening the worker port to other machines requires the same key and token", () => {
      expect(() => readSettings({ TROUPE_INTERNAL_HOST: "0.0.0.0" })).toThrow(
        "TROUPE_INTERNAL_HOST=0.0.0.0 would open the workers' port to other machines. Set TROUPE_SECRET_KEY and TROUPE_WORKER_TOKEN as well.",
      );
      expect(readSettings({ ...keys, TROUPE_INTERNAL_HOST: "0.0.0.0" }).TROUPE_INTERNAL_HOST).toBe("0.0.0.0");
    });

    test("a worker requires the same key and token, and an identity key on a public address", () => {
      expect(() => readWorkerSettings("box", {})).toThrow(
        "A worker needs TROUPE_SECRET_KEY and TROUPE_WORKER_TOKEN, set to the same value as on the server.",
      );
      expect(() => readWorkerSettings("box", { ...keys, TROUPE_WORKER_HOST: "10.0.0.7" })).toThrow(
        "TROUPE_WORKER_HOST=10.0.0.7 would let other machines send this worker runs. Set TROUPE_RESTATE_IDENTITY as well; npm run engine prints it.",
      );
      expect(readWorkerSettings("my box", { ...keys, HOST: "0.0.0.0" })).toEqual({
        name: "my-box-9081",
        labels: [],
        host: "127.0.0.1",
        port: 9081,
        runs: 64,
        toolsFile: null,
        control: { url: "http://127.0.0.1:3010", token: "t".repeat(32) },
        identity: null,
      });
      expect(readWorkerSettings("box", { ...keys, TROUPE_INTERNAL_PORT: "3981" }).control.url).toBe(
        "http://127.0.0.1:3981",
      );
      const identity = "publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f";
      expect(
        readWorkerSettings("box", {
          ...keys,
          TROUPE_WORKER_HOST: "0.0.0.0",
          TROUPE_RESTATE_IDENTITY: identity,
          TROUPE_WORKER_NAME: "north",
          TROUPE_WORKER_LABELS: "gpu, eu-west",
          TROUPE_CONTROL_URL: "http://troupe:3010/",
        }),
      ).toEqual({
        name: "north",
        labels: ["gpu", "eu-west"],
        host: "0.0.0.0",
        port: 9081,
        runs: 64,
        toolsFile: null,
        control: { url: "http://troupe:3010", token: "t".repeat(32) },
        identity,
      });
      expect(() => readSettings({ TROUPE_RESTATE_IDENTITY: "mykey" })).toThrow(
        "TROUPE_RESTATE_IDENTITY must be a Restate public key, which starts with publickeyv1_.",
      );
    });
  });

  test("settings only restrict runs as far as they are set", () => {
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

  test("docs/settings.md lists all settings; UPDATE_DOCS=1 writes it", () => {
    const file = path.join(import.meta.dirname, "../docs/settings.md");
    const page = settingsPage();
    if (process.env.UPDATE_DOCS === "1") writeFileSync(file, page);
    expect(readFileSync(file, "utf8")).toBe(page);
  });
});

const settingsPage = () => `# Settings

All settings are optional. Set them in the environment or in a \`.env\` file: in this folder, or in the
[data folder](deployment.md#data) of an installed package.

<!-- Generated from server/settings.ts by: UPDATE_DOCS=1 npx vitest run server/settings.test.ts -->

| Name | Default | Description |
| --- | --- | --- |
${settingsTable()
  .map(
    ({ name, fallback, about }) =>
      `| \`${name}\` | ${fallback === null ? "" : `\`${fallback}\``} | ${about.replaceAll("|", "\\|")} |`,
  )
  .join("\n")}
`;
