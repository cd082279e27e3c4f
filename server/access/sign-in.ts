import { z } from "zod";
import { LIMITS } from "../limits";
import { getAccess } from "./current";
import { API_HEADERS, guard } from "./guard";
import { safeNext } from "./page-auth";
import type { Recognition } from "./principal";
import type { Sessions } from "./sessions";

const SignIn = z.object({ password: z.string().min(1).max(1_000), next: z.string().max(2_000).nullish() });

const SignOut = z.object({ everywhere: z.boolean().default(false) }).catch({ everywhere: false });

type Door<Keys extends keyof Sessions> = Recognition & { sessions: Pick<Sessions, Keys> };

/** Exchanges a password for a session. */
export async function signIn(request: Request, access: Door<"tryPassword"> = getAccess()): Promise<Response> {
  const passed = await guard(request, { authScheme: "public", maxBytes: LIMITS.body.login });
  if (passed instanceof Response) return passed;
  const asked = SignIn.safeParse(await passed.request.json().catch(() => null));
  if (!asked.success) return failure(400, "bad_request", "Enter the password.");

  const host = request.headers.get("host");
  const result = await access.sessions.tryPassword(asked.data.password, host);
  if (result === "wrong") return failure(401, "wrong_password", "Wrong password.");
  if ("waitS" in result)
    return failure(429, "too_many_tries", `Too many attempts. Try again in ${formatSeconds(result.waitS)}.`, {
      "retry-after": String(result.waitS),
    });
  return Response.json(
    { next: safeNext(asked.data.next ?? null) },
    { headers: { ...API_HEADERS, "set-cookie": result.cookie } },
  );
}

/** Ends the session of this browser, or all of them. */
export async function signOut(
  request: Request,
  access: Door<"end" | "endAll"> = getAccess(),
): Promise<Response> {
  const passed = await guard(request, {
    authScheme: "app",
    maxBytes: LIMITS.body.login,
    recognition: access,
  });
  if (passed instanceof Response) return passed;
  const { everywhere } = SignOut.parse(await passed.request.json().catch(() => ({})));
  const cookie = await (everywhere ? access.sessions.endAll(request) : access.sessions.end(request));
  return Response.json({ next: "/login" }, { headers: { ...API_HEADERS, "set-cookie": cookie } });
}

const formatSeconds = (seconds: number) =>
  seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`;

const failure = (status: number, code: string, message: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { code, message } }, { status, headers: { ...API_HEADERS, ...headers } });
