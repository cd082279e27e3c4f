import { createPrivateKey, type KeyObject } from "node:crypto";

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};

/** By which algorithm a private key signs (RFC 7518), or null where it does not. */
export function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | null {
  if (asymmetricKeyType === "rsa") return (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048 ? "RS256" : null;
  if (asymmetricKeyType === "ed25519") return "EdDSA";
  return asymmetricKeyType === "ec" ? (CURVES[asymmetricKeyDetails?.namedCurve ?? ""] ?? null) : null;
}

/** Whether a text is a private key, in PEM and without a passphrase, that can sign. */
export function isPrivateKey(text: string): boolean {
  try {
    return algorithmOf(createPrivateKey(text)) !== null;
  } catch {
    return false;
  }
}
