import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { newServices } from "@/server/services";
import { lostSecrets, lostSecretsRemark } from "./lost-secrets";

const key = (letter: string) => Buffer.alloc(32, letter).toString("base64");

test("startup with another key lists every secret that can't be decrypted and what to do", () => {
  const db = emptyDb();
  const install = (letter: string) =>
    newServices(db, { dataDir: null, env: { NODE_ENV: "test", TROUPE_SECRET_KEY: key(letter) } });
  const first = install("a");
  expect(lostSecrets(first)).toEqual([]);
  const of = { base_url: "http://127.0.0.1:9/v1", default_model: "m" };
  first.providers.save({ name: "Ours", ...of, key: "a-key-of-a-provider" });
  first.providers.save({ name: "Keyless", ...of, key: null });
  first.toolSettings.save({ purpose: "web", kind: "brave", base_url: "", key: "a-key-of-a-search" });
  first.mcpServers.save({ name: "notes", url: "http://127.0.0.1:9/mcp", authorization: "Bearer x" });
  first.mcpServers.save({ name: "calendar", url: "http://127.0.0.1:9/mcp" });
  first.mcpServers.keepOauth("calendar", "http://127.0.0.1:9/mcp", {
    text: '{"access_token":"a-token-of-a-server"}',
    secrets: ["a-token-of-a-server"],
  });
  first.noticeSettings.saveWebhook({ is_on: true, url: "http://127.0.0.1:9/a-key-in-an-address" });
  const mail = { host: "mail.example", port: 465, security: "tls", user: "me" } as const;
  const letters = { is_on: true, from: "a@example.org", to: ["b@example.org"], password: "a-password" };
  first.noticeSettings.saveEmail({ ...mail, ...letters });
  expect(lostSecrets(first)).toEqual([]);
  const lost = lostSecrets(install("b"));
  expect(lost).toEqual([
    "provider Ours",
    "search (web)",
    "sign-in to the MCP server calendar",
    "MCP server notes",
    "notification webhook",
    "mail server for notifications",
  ]);
  expect(lostSecretsRemark(lost, "/data")).toBe(
    "The encryption key differs from the one that encrypted these secrets: provider Ours, search (web), sign-in to the MCP server calendar, MCP server notes, notification webhook, mail server for notifications. Restore the previous /data/secret.key or TROUPE_SECRET_KEY and restart, or enter these secrets again in Settings.",
  );
  expect(lostSecretsRemark(lostSecrets(install("a")), "/data")).toBeNull();
});
