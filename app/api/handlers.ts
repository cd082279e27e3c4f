import type { Handlers } from "@/server/handlers";

/**
 * The handlers of requests under /api. Startup sets them on `globalThis`, so that routes import only their type and the
 * build contains the server once; in development each route loads them, so that edits take effect.
 */
export async function handlers(): Promise<Handlers> {
  if (process.env.NODE_ENV === "development") return (await import("@/server/handlers")).handlers;
  if (!globalThis.__troupeHandlers) throw new Error("The server hasn't started.");
  return globalThis.__troupeHandlers;
}
