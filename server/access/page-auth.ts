import { isOwnHost, isOwnOrigin } from "./requests/hosts";
import type { Sessions } from "./sessions";

/** The outcome of a request for a page: it continues, perhaps with a new session, or gets another answer. */
export type PageDecision = { go: true; cookie?: string } | { go: false; answer: Response };

/**
 * Decides who sees a page. Pages hold no data, so this is a convenience (a session without sign-in on this machine, the
 * way to the password elsewhere); what protects the data is the guard in front of every route.
 */
export async function authorizePage(request: Request, sessions: Sessions): Promise<PageDecision> {
  const host = request.headers.get("host");
  const refused = refusalOf(request);
  if (refused) return refused;
  const url = new URL(request.url);
  const isLoginPage = url.pathname === "/login";
  if (await sessions.find(request))
    return isLoginPage ? redirect(safeNext(url.searchParams.get("next"))) : { go: true };
  if (sessions.signInMode === "open") {
    if (isLoginPage) return redirect(safeNext(url.searchParams.get("next")));
    return isNavigation(request) ? { go: true, cookie: await sessions.begin(host) } : { go: true };
  }
  if (!isLoginPage) return redirect(`/login?next=${encodeURIComponent(url.pathname + url.search)}`);
  const link = url.searchParams.get("link");
  if (link !== null && sessions.signInMode === "link" && sessions.useLink(link))
    return redirect("/", await sessions.begin(host));
  return { go: true };
}

/** Form pages are public, also in frames of other sites: they neither read nor start a session. */
export const authorizeFormPage = (request: Request): PageDecision => malformed(request) ?? { go: true };

export const isFormPage = (path: string): boolean => path.startsWith("/p/");

function malformed({ headers, method }: Request): PageDecision | null {
  const host = headers.get("host");
  if (!isOwnHost(host)) return plain(421, "Unknown host name. Behind a proxy, set TROUPE_PUBLIC_URL.");
  if ((method !== "GET" && method !== "HEAD") || headers.has("next-action"))
    return plain(405, "Pages accept GET and HEAD only.", { allow: "GET, HEAD" });
  return null;
}

function refusalOf(request: Request): PageDecision | null {
  const { headers } = request;
  const refused = malformed(request);
  if (refused) return refused;
  if (!isCrossSite(headers)) return null;
  return isNavigation(request) ? interstitial() : plain(403, "Cross-site request blocked.");
}

function isNavigation({ headers }: Request): boolean {
  const target = headers.get("sec-fetch-dest");
  return target === "document" || (target === null && (headers.get("accept") ?? "").includes("text/html"));
}

function isCrossSite(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  return (
    (site !== null && site !== "same-origin" && site !== "none") || (origin !== null && !isOwnOrigin(origin))
  );
}

/** The path inside the app to go to after signing in; anything else becomes the first page. */
export function safeNext(next: string | null): string {
  if (!next || !/^\/(?![/\\])/.test(next) || /[\\\p{Cc}]/u.test(next)) return "/";
  const base = "http://troupe.invalid";
  if (!URL.canParse(next, base)) return "/";
  const url = new URL(next, base);
  return url.origin === base && !url.pathname.startsWith("//") ? url.pathname + url.search : "/";
}

/**
 * After a link on another site, browsers leave out strict cookies. This page reloads itself, from here, so that the
 * cookie comes along.
 */
function interstitial(): PageDecision {
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>Troupe</title>`;
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
  };
  return { go: false, answer: new Response(page, { headers }) };
}

function plain(status: number, text: string, headers: Record<string, string> = {}): PageDecision {
  return {
    go: false,
    answer: new Response(`${text}\n`, {
      status,
      headers: {
        "content-type": "text/plain; charset=utf-8",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        ...headers,
      },
    }),
  };
}

/** Redirects to a relative address: the server's public name may be unknown. */
function redirect(location: string, cookie?: string): PageDecision {
  const headers = new Headers({ location, "cache-control": "no-store" });
  if (cookie) headers.set("set-cookie", cookie);
  return { go: false, answer: new Response(null, { status: 307, headers }) };
}
