// The key by which workers know that a request comes from their Restate.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import process from "node:process";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * Makes the private key if it is not there, readable by its owner only. Answers the public one as Restate writes it. Several that are
 * started at the same time have the same.
 */
export function ensureIdentity(file) {
  if (!existsSync(file)) make(file);
  const { x = "" } = createPublicKey(createPrivateKey(readFileSync(file))).export({ format: "jwk" });
  return `publickeyv1_${base58(Buffer.from(x, "base64url"))}`;
}

/** It is there whole or not at all; one that somebody else laid there meanwhile stays. */
function make(file) {
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
