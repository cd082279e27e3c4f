import { randomBytes } from "node:crypto";
import { type NextRequest, NextResponse } from "next/server";
import { getAccess } from "@/server/access/current";
import { FORM_PAGE_HEADER, frameAncestorsOf } from "@/server/access/form-pages";
import { authorizeFormPage, authorizePage, isFormPage } from "@/server/access/page-auth";
import { contentSecurityPolicy, pageHeaders, STRICT_TRANSPORT } from "@/server/access/requests/headers";
import { isHttpsHost } from "@/server/access/requests/hosts";

/** For pages only. It would silently truncate long bodies sent to /api, /hooks or forms. */
export async function proxy(request: NextRequest): Promise<Response> {
  const { pathname } = request.nextUrl;
  const isForm = isFormPage(pathname);
  const entry = isForm ? authorizeFormPage(request) : await authorizePage(request, getAccess().sessions);
  const frames = isForm && entry.go ? frameAncestorsOf(pathname) : [];
  const response = entry.go ? page(request, { cookie: entry.cookie, isForm, frames }) : entry.answer;
  // Next.js requires absolute URLs here, and sends them as relative ones.
  const location = response.headers.get("location");
  if (location) response.headers.set("location", new URL(location, request.url).toString());
  for (const [name, value] of Object.entries(pageHeaders(frames))) response.headers.set(name, value);
  if (isHttpsHost(request.headers.get("host")))
    response.headers.set("strict-transport-security", STRICT_TRANSPORT);
  return response;
}

interface Shown {
  cookie: string | undefined;
  isForm: boolean;
  /** The sites that may embed it. */
  frames: readonly string[];
}

/** Next.js reads the nonce from the policy in the request's headers and adds it to its scripts. */
function page(request: NextRequest, { cookie, isForm, frames }: Shown): Response {
  const nonce = randomBytes(16).toString("base64");
  const policy = contentSecurityPolicy(nonce, process.env.NODE_ENV === "development", frames);
  const headers = new Headers(request.headers);
  headers.set("x-nonce", nonce);
  headers.set("content-security-policy", policy);
  headers.delete(FORM_PAGE_HEADER);
  if (isForm) headers.set(FORM_PAGE_HEADER, "1");
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  if (cookie) response.headers.append("set-cookie", cookie);
  return response;
}

export const config = {
  matcher: ["/((?!api/|hooks/|p/[\\w-]+/submit$|_next/|icon\\.svg$|theme\\.js$).*)"],
};
