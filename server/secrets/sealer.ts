import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { closeSync, fchmodSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import path from "node:path";
import { errorCode } from "@/server/domain/base/guards";
import type { Env } from "@/server/settings";
import { registerSecret } from "./redact";

/**
 * Encrypts secrets at rest. `binding` names the row and field of a record; a record that was moved to another can't be
 * opened.
 */
export interface Sealer {
  seal(plain: string, binding: string): string;
  open(record: string, binding: string): string;
}

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 2 + IV_BYTES + TAG_BYTES;

/**
 * A sealer with the key from the environment, or with the key file in the data folder (created if missing). Null: a key
 * in memory only.
 */
export function newSealer(dataDir: string | null, env: Env = process.env): Sealer {
  const given = env.TROUPE_SECRET_KEY || env.APP_SECRET_KEY;
  const key = given ? parseKey(given, "TROUPE_SECRET_KEY") : dataDir ? keyFile(dataDir) : randomBytes(32);
  const keyId = createHash("sha256").update(key).digest()[0] ?? 0;
  return {
    seal(plain, binding) {
      registerSecret(plain);
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(binding));
      const sealed = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.from([VERSION, keyId]), iv, cipher.getAuthTag(), sealed]).toString(
        "base64",
      );
    },
    open(record, binding) {
      const bytes = Buffer.from(record, "base64");
      if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION)
        throw new Error("The stored secret is damaged. Enter it again.");
      if (bytes[1] !== keyId)
        throw new Error(
          "The stored secret was encrypted with another key. Enter it again, or restore the key.",
        );
      const iv = bytes.subarray(2, 2 + IV_BYTES);
      const cipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(binding));
      cipher.setAuthTag(bytes.subarray(2 + IV_BYTES, HEAD_BYTES));
      try {
        const plain = Buffer.concat([cipher.update(bytes.subarray(HEAD_BYTES)), cipher.final()]).toString(
          "utf8",
        );
        registerSecret(plain);
        return plain;
      } catch {
        throw new Error("The stored secret is damaged or belongs to another setting. Enter it again.");
      }
    },
  };
}

function parseKey(text: string, where: string): Buffer {
  const key = Buffer.from(text.trim(), "base64");
  if (key.length !== 32)
    throw new Error(`${where} must be 32 bytes in base64, as \`openssl rand -base64 32\` prints.`);
  return key;
}

function keyFile(dataDir: string): Buffer {
  const file = path.join(dataDir, "secret.key");
  try {
    // Fails where the file exists: two servers starting at once end up with one key.
    const handle = openSync(file, "wx", 0o600);
    fchmodSync(handle, 0o600);
    writeSync(handle, `${randomBytes(32).toString("base64")}\n`);
    closeSync(handle);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0)
    throw new Error(`Other users of this machine can read ${file}. Run: chmod 600 ${file}`);
  return parseKey(readFileSync(file, "utf8"), file);
}
