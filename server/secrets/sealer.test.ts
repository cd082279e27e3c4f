import { chmodSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { redact, redactJson, registerSecret } from "./redact";
import { newSealer } from "./sealer";

const folder = () => mkdtempSync(path.join(tmpdir(), "troupe-secrets-"));

describe("encryption", () => {
  test("an encrypted secret can be decrypted only in its own place", () => {
    const sealer = newSealer(folder(), {});
    const record = sealer.seal("sk-live-1234567890", "secrets:prov_a:key");
    expect(Buffer.from(record, "base64").toString("latin1")).not.toContain("sk-live");
    expect(sealer.open(record, "secrets:prov_a:key")).toBe("sk-live-1234567890");
    expect(() => sealer.open(record, "secrets:prov_b:key")).toThrow("belongs to another setting");
    expect(sealer.seal("same", "x")).not.toBe(sealer.seal("same", "x"));
  });

  test("a changed or truncated record can't be decrypted", () => {
    const sealer = newSealer(null, {});
    const bytes = Buffer.from(sealer.seal("a secret value", "x"), "base64");
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect(() => sealer.open(changed.toString("base64"), "x")).toThrow(/secret/);
    }
    expect(() => sealer.open(bytes.subarray(0, 20).toString("base64"), "x")).toThrow("damaged");
  });

  test("the key file persists, is private, and is rejected if other users can read it", () => {
    const dir = folder();
    const file = path.join(dir, "secret.key");
    const record = newSealer(dir, {}).seal("kept over a restart", "x");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(newSealer(dir, {}).open(record, "x")).toBe("kept over a restart");
    expect(readFileSync(file, "utf8").trim()).toHaveLength(44);
    chmodSync(file, 0o644);
    expect(() => newSealer(dir, {})).toThrow(/chmod 600/);
  });

  test("decrypting with another key fails with an error that says so", () => {
    const [one, two] = [1, 2].map((n) => ({ TROUPE_SECRET_KEY: Buffer.alloc(32, n).toString("base64") }));
    const record = newSealer(null, one).seal("value", "x");
    expect(() => newSealer(null, two).open(record, "x")).toThrow("another key");
    expect(() => newSealer(null, { TROUPE_SECRET_KEY: "short" })).toThrow("32 bytes in base64");
  });
});

describe("redaction", () => {
  test("a value without secrets stays the same object", () => {
    registerSecret("CANARY-0 with spaces & signs/+?");
    const value = { a: ["words", { b: "more words" }], c: 1, d: null };
    expect(redactJson(value)).toBe(value);
  });

  test("a known secret is redacted in every encoding", () => {
    const secret = 'CANARY-1 "quoted" & spaced/+?';
    registerSecret(secret);
    const spellings = [
      secret,
      JSON.stringify(secret),
      encodeURIComponent(secret),
      Buffer.from(secret).toString("base64"),
      Buffer.from(secret).toString("base64url"),
      Buffer.from(secret).toString("hex"),
      `Basic ${Buffer.from(`:${secret}`).toString("base64")}`,
    ];
    for (const spelling of spellings) {
      const shown = redact(`before ${spelling} after`);
      expect(shown).toMatch(/^before .*\[hidden\].* after$/);
      expect(shown).not.toContain(spelling);
    }
    const value = { safe: "text", list: [secret, { [`key ${secret}`]: secret }] };
    const clean = redactJson(value);
    expect(JSON.stringify(clean)).not.toContain("CANARY-1");
    expect(clean.safe).toBe("text");
    expect(value.list[0]).toBe(secret);
  });

  test.each(["", "a", "ab", "user:", "Bearer ", "Basic x:"])(
    'base64 of a known secret after the prefix "%s" is redacted',
    (before) => {
      const secret = "CANARY-2-behind-a-prefix";
      registerSecret(secret);
      for (const form of ["base64", "base64url"] as const) {
        const shown = redact(Buffer.from(`${before}${secret} and more`).toString(form));
        const left = shown.split("[hidden]").map((part) => Buffer.from(part, form).toString());
        expect(left).toHaveLength(2);
        expect(left.join()).not.toMatch(/CANARY|behind|prefix/);
      }
    },
  );

  test("the credentials of an encrypted header are redacted without its scheme or ordinary words", () => {
    const sealer = newSealer(null, {});
    const basic = (pair: string) => Buffer.from(pair).toString("base64");
    sealer.seal("Bearer CANARY-3-token", "x");
    sealer.seal(`Basic ${basic("CANARY-4-user:CANARY-5-password")}`, "x");
    sealer.seal(`Basic ${basic("admin:CANARY-6-password")}`, "x");
    sealer.seal("open sesamestreet", "x");
    const shown = redact(
      `CANARY-3-token, CANARY-4-user, CANARY-5-password, CANARY-4-user:CANARY-5-password, CANARY-6-password, admin, ${basic("CANARY-4-user:CANARY-5-password")}, sesamestreet`,
    );
    expect(shown).toBe("[hidden], [hidden], [hidden], [hidden], [hidden], admin, [hidden], sesamestreet");
  });

  test("text that looks like a key is redacted from logs, and ordinary words aren't", () => {
    const token = `wf_${"a1B2".repeat(11)}`;
    for (const key of ["sk-proj-abcdefghijklmnop", token, `ghp_${"x".repeat(36)}`, "AKIAABCDEFGHIJKLMNOP"])
      expect(redact(`the key ${key}, says the log`)).toBe("the key [hidden], says the log");
    expect(redact("Authorization: Bearer abcdefghijklmnopqrst")).toBe("Authorization: [hidden]");
    const text = "risk-free wf_short task-force desk-abcdefghijklmnopqrstuv Bearer of news";
    expect(redact(text)).toBe(text);
  });

  test("short values aren't redacted", () => {
    registerSecret("test");
    expect(redact("a test")).toBe("a test");
  });

  test("a long text of key prefixes is searched to its end", () => {
    const text = `${"sk-".repeat(200_000)} Bearer ${" ".repeat(200_000)}`;
    expect(redact(text)).toMatch(/^\[hidden\]/);
  });
});
