import { createHmac } from "node:crypto";
import type { JsonObject } from "@/server/domain/base/values";
import type { WebhookTarget } from "@/server/store/notice-settings";

const TIMEOUT_MS = 15_000;

/** The header that proves who sent a notice: `t=` the time in Unix seconds, `v1=` HMAC-SHA-256 of "time.body" in hex. */
export function signatureOf(secret: string, body: string, at: number): string {
  const seconds = Math.floor(at / 1000);
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
}

/** Posts a notice. Throws with a sentence where it was not taken. */
export async function postNotice(
  fetch: typeof globalThis.fetch,
  { url, secret }: WebhookTarget,
  notice: JsonObject,
  now: number,
): Promise<void> {
  const body = JSON.stringify(notice);
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "Troupe",
      "troupe-signature": signatureOf(secret, body, now),
    },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`${new URL(url).host} returned status ${response.status}.`);
}
