import type { Handlers } from "@/server/handlers";

/**
 * What answers requests under /api. The boot puts it on the process, so that routes import its type only and the build
 * holds the server once; in development each route loads it, so that edits take effect.
 */
export async function handlers(): Promise<Handlers> {
  if (process.env.NODE_ENV === "development") return (await import("@/server/handlers")).handlers;
  if (!globalThis.__troupeHandlers) throw new Error("The server has not started.");
  return globalThis.__troupeHandlers;
}
