import { randomBytes } from "node:crypto";
import { type NextRequest, NextResponse } from "next/server";
import { getAccess } from "@/server/access/current";
import { authorizePage } from "@/server/access/page-auth";
import { contentSecurityPolicy, PAGE_HEADERS, STRICT_TRANSPORT } from "@/server/access/requests/headers";
import { isHttpsHost } from "@/server/access/requests/hosts";

/** For pages only, never for /api and /hooks, where it would silently truncate long bodies. */
export async function proxy(request: NextRequest): Promise<Response> {
  const entry = await authorizePage(request, getAccess().sessions);
  const response = entry.go ? page(request, entry.cookie) : entry.answer;
  // Next.js requires absolute URLs here, and sends them as relative ones.
  const location = response.headers.get("location");
  if (location) response.headers.set("location", new URL(location, request.url).toString());
  for (const [name, value] of Object.entries(PAGE_HEADERS)) response.headers.set(name, value);
  if (isHttpsHost(request.headers.get("host")))
    response.headers.set("strict-transport-security", STRICT_TRANSPORT);
  return response;
}

/** Next.js reads the nonce from the policy in the request's headers and adds it to its scripts. */
function page(request: NextRequest, cookie: string | undefined): Response {
  const nonce = randomBytes(16).toString("base64");
  const policy = contentSecurityPolicy(nonce, process.env.NODE_ENV === "development");
  const headers = new Headers(request.headers);
  headers.set("x-nonce", nonce);
  headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  if (cookie) response.headers.append("set-cookie", cookie);
  return response;
}

export const config = { matcher: ["/((?!api/|hooks/|_next/|icon\\.svg$|theme\\.js$).*)"] };
