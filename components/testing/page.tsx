import { render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import type { ReactNode } from "react";
import { vi } from "vitest";
import { emptyDb } from "@/db/testing";
import { appRouter } from "@/server/api/root";
import { newServices } from "@/server/services";
import { TroupeApi } from "../trpc";
import { Toaster } from "../ui/toasts";
import { goTo } from "./navigation";

/**
 * A page as a person sees it, without a browser: in a document in memory, on a server in memory with an empty database.
 * What the page asks for goes through tRPC's own wire format to the real procedures. `person` clicks and types.
 */
export function openPage(page: ReactNode, where = "/", env: Record<string, string> = {}) {
  const troupe = newServices(emptyDb(), { dataDir: null, env: { ...process.env, ...env } });
  const principal = { kind: "session", id: "ses_1" } as const;
  vi.stubGlobal("fetch", (asked: string | URL, init?: RequestInit) =>
    fetchRequestHandler({
      endpoint: "/api/trpc",
      router: appRouter,
      req: new Request(new URL(asked, window.location.href), init),
      createContext: () => ({ troupe, principal }),
    }),
  );
  goTo(where);
  const ask = appRouter.createCaller({ troupe, principal });
  const person = userEvent.setup();
  const show = () =>
    render(
      <TroupeApi>
        {page}
        <Toaster />
      </TroupeApi>,
    );
  return { troupe, ask, person, show };
}
