// The key by which workers verify that a request comes from their Restate.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import process from "node:process";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * Creates the private key if it is missing, readable by its owner only. Returns the public key in Restate's format.
 * Concurrent calls, also of other processes, return the same key.
 */
export function ensureIdentity(file) {
  if (!existsSync(file)) createKey(file);
  const { x = "" } = createPublicKey(createPrivateKey(readFileSync(file))).export({ format: "jwk" });
  return `publickeyv1_${base58(Buffer.from(x, "base64url"))}`;
}

/** Atomic; keeps a key that another process has created meanwhile. */
function createKey(file) {
  const { privateKey } = generateKeyPairSync("ed25519");
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
}

function base58(bytes) {
  let rest = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; rest > 0n; rest /= 58n) text = ALPHABET[Number(rest % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return ALPHABET[0].repeat(zeros < 0 ? bytes.length : zeros) + text;
}
