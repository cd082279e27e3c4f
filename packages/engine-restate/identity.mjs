// The key by which workers know that a request comes from their Restate.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Makes the private key if it is not there, readable by its owner only. Answers the public one as Restate writes it. */
export function ensureIdentity(file) {
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync("ed25519");
    writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
  }
  const { x = "" } = createPublicKey(createPrivateKey(readFileSync(file))).export({ format: "jwk" });
  return `publickeyv1_${base58(Buffer.from(x, "base64url"))}`;
}

function base58(bytes) {
  let rest = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; rest > 0n; rest /= 58n) text = ALPHABET[Number(rest % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return ALPHABET[0].repeat(zeros < 0 ? bytes.length : zeros) + text;
}
