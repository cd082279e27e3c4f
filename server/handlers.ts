import "server-only";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { guard } from "@/server/access/guard";
import { inStreamPlace } from "@/server/access/requests/streams";
import { signIn, signOut } from "@/server/access/sign-in";
import { downloadFile } from "@/server/api/download-file";
import { appRouter } from "@/server/api/root";
import { serveOffline } from "@/server/http-api/offline";
import { errorResponse, rejectionFor, serve } from "@/server/http-api/serve";
import { formPage, serveForm } from "@/server/http-api/triggers/forms";
import { serveHook } from "@/server/http-api/triggers/webhooks";
import { LIMITS } from "@/server/limits";
import { log } from "@/server/log";
import { servicesFor } from "@/server/operations/limited/limited";
import { authorize } from "@/server/operations/operation";
import { getServices } from "@/server/services";

/** One function per route under /api, /hooks and /p. Each checks the request with the guard before anything else, except `formPage`. */
export const handlers = {
  signIn,
  signOut,
  offline: serveOffline,
  api: (request: Request) => serve(request, { services: getServices }),

  /** A delivery to a webhook. */
  hook: (request: Request, { key }: { key: string }) => serveHook(request, key, getServices),

  /** A form as visitors see it; null if no form has this key. For its page, whose request the proxy has checked. */
  formPage: (key: string, cookies: string | null) => formPage(getServices(), key, cookies),

  /** A request from a form page. */
  form: (request: Request, { key }: { key: string }) => serveForm(request, key, getServices),

  async trpc(original: Request): Promise<Response> {
    const passed = await guard(original, { authScheme: "app", maxBytes: LIMITS.body.import });
    if (passed instanceof Response) return passed;
    return inStreamPlace(passed, () =>
      fetchRequestHandler({
        endpoint: "/api/trpc",
        req: passed.request,
        router: appRouter,
        maxBatchSize: 10,
        createContext: () => ({ troupe: getServices(), principal: passed.principal }),
        onError: ({ error, path }) => {
          if (error.code === "INTERNAL_SERVER_ERROR" && error.cause?.name !== "AbortError")
            log("error", "A request failed.", { path, error: error.message });
        },
      }),
    );
  },

  /** Downloads a file from a run's workspace. `?version=2` selects an older version. */
  async file(original: Request, { run_id, path }: { run_id: string; path: string[] }): Promise<Response> {
    const passed = await guard(original, { authScheme: "app" });
    if (passed instanceof Response) return passed;
    const version = Number(new URL(original.url).searchParams.get("version"));
    try {
      authorize("read", passed.principal);
      return downloadFile(
        servicesFor(getServices(), passed.principal),
        run_id,
        path.map(decoded),
        Number.isInteger(version) && version > 0 ? version : undefined,
      );
    } catch (error) {
      return errorResponse(rejectionFor(error, "GET a file"));
    }
  },
};

export type Handlers = typeof handlers;

declare global {
  var __troupeHandlers: Handlers | undefined;
}

/** Decodes a path segment of the URL; an invalid one is returned unchanged and matches no file. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
