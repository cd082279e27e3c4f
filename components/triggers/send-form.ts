import { z } from "zod";
import { newId } from "@/server/domain/base/ids";

const Refusal = z.object({
  error: z.object({
    code: z.string().optional(),
    message: z.string(),
    details: z
      .object({ errors: z.array(z.object({ key: z.string(), message: z.string() })).optional() })
      .optional(),
  }),
});

/** Why the server refused a request. `errors`: by field. */
export interface Refused {
  code?: string | undefined;
  message: string;
  errors: readonly { key: string; message: string }[];
}

/** Sends a request to the form; returns the answer, or why it was refused. */
export async function send(key: string, body: object): Promise<{ answer: unknown } | { refused: Refused }> {
  try {
    const response = await fetch(`/p/${key}/submit`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    if (response.ok) return { answer };
    const { code, message, details } = Refusal.parse(answer).error;
    return { refused: { code, message, errors: details?.errors ?? [] } };
  } catch {
    return { refused: { message: "Can't reach the server. Try again.", errors: [] } };
  }
}

const kept = new Map<string, string>();

/** An ID for the answers. It survives reloads until they are received, so that they start one run however often they are sent. */
export function sendingId(key: string): string {
  const id = read(key) ?? kept.get(key) ?? newId("form");
  kept.set(key, id);
  try {
    sessionStorage.setItem(key, id);
  } catch {
    // A frame may have no storage; the ID then lasts as long as the page.
  }
  return id;
}

/** Gives the next answers a new ID. */
export function forgetSendingId(key: string): void {
  kept.delete(key);
  try {
    sessionStorage.removeItem(key);
  } catch {
    // No storage, so nothing to remove.
  }
}

function read(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}
