import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { guard } from "@/server/access/guard";
import { inStreamPlace } from "@/server/access/streams";
import { appRouter } from "@/server/api/root";
import { LIMITS } from "@/server/limits";
import { log } from "@/server/log";
import { getServices } from "@/server/services";

export const dynamic = "force-dynamic";

async function handler(original: Request): Promise<Response> {
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
}

export { handler as GET, handler as POST };
