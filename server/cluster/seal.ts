import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";

/** Encrypts and compresses messages between server, engine and workers wherever they are stored. */
export interface JournalSealer {
  seal(plain: Uint8Array): Uint8Array;
  /** Throws if the text was encrypted with another key, was changed, or was never encrypted. */
  open(sealed: Uint8Array): Uint8Array;
}

/** Layout: version, 12 bytes nonce, 16 bytes tag, then encrypted: the compression (one byte), and the bytes. */
const VERSION = 1;
const NONCE = 12;
const TAG = 16;
const HEAD = 1 + NONCE + TAG;
const [AS_IS, GZIP] = [0, 1];
/** Fewer bytes don't get smaller by compression. */
const WORTH_PACKING = 128;

/** `secretKey`: 32 bytes in base64, as TROUPE_SECRET_KEY is; the journal's own key is derived from it. */
export function newJournalSealer(secretKey: string): JournalSealer {
  const given = Buffer.from(secretKey.trim(), "base64");
  if (given.length !== 32)
    throw new Error("TROUPE_SECRET_KEY must be 32 bytes in base64, as `openssl rand -base64 32` prints.");
  const key = Buffer.from(hkdfSync("sha256", given, Buffer.alloc(0), "troupe journal", 32));
  const version = Buffer.from([VERSION]);
  return {
    seal(plain) {
      const packed = plain.length < WORTH_PACKING ? null : gzipSync(plain, { level: 1 });
      const isSmaller = packed !== null && packed.length < plain.length;
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG });
      cipher.setAAD(version);
      const how = cipher.update(Buffer.from([isSmaller ? GZIP : AS_IS]));
      const body = cipher.update(isSmaller ? packed : plain);
      const rest = cipher.final();
      return Buffer.concat([version, nonce, cipher.getAuthTag(), how, body, rest]);
    },
    open(sealed) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
      if (bytes.length < HEAD + 1 || bytes[0] !== VERSION)
        throw new Error("This value wasn't encrypted by Troupe.");
      const cipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(1, 1 + NONCE), {
        authTagLength: TAG,
      });
      cipher.setAAD(version);
      cipher.setAuthTag(bytes.subarray(1 + NONCE, HEAD));
      let plain: Buffer;
      try {
        plain = Buffer.concat([cipher.update(bytes.subarray(HEAD)), cipher.final()]);
      } catch {
        throw new Error("This value was encrypted with another key, or was changed afterwards.");
      }
      const body = plain.subarray(1);
      return plain[0] === GZIP ? gunzipSync(body) : body;
    },
  };
}
