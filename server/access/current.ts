import "server-only";
import { getDb } from "@/server/store/current";
import { type Access, newAccess } from "./access";

const held = globalThis as typeof globalThis & { __troupeAccess?: Access };

/** The server's one Access. On globalThis: pages, routes and the proxy are separate bundles, and a link is used once. */
export function getAccess(): Access {
  held.__troupeAccess ??= newAccess(getDb(), process.env);
  return held.__troupeAccess;
}
