import { isOwnHost, isOwnOrigin } from "./requests/hosts";
import type { Sessions } from "./sessions";

/** What happens to a request for a page: it goes on, perhaps with a new session, or gets another answer. */
export type PageDecision = { go: true; cookie?: string } | { go: false; answer: Response };

/**
 * Decides who sees a page. Pages hold no data, so this is for people's comfort (a session by itself on this machine, a
 * way to the password elsewhere); what protects the data is the guard in front of every route.
 */
export async function authorizePage(request: Request, sessions: Sessions): Promise<PageDecision> {
  const { headers, method } = request;
  const host = headers.get("host");
  if (!isOwnHost(host))
    return plain(421, "This server does not answer to that name. Behind a proxy, set TROUPE_PUBLIC_URL.");
  if ((method !== "GET" && method !== "HEAD") || headers.has("next-action"))
    return plain(405, "Pages can only be read.", { allow: "GET, HEAD" });

  const target = headers.get("sec-fetch-dest");
  const isNavigation =
    target === "document" || (target === null && (headers.get("accept") ?? "").includes("text/html"));
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isCrossSite =
    (site !== null && site !== "same-origin" && site !== "none") || (origin !== null && !isOwnOrigin(origin));
  if (isCrossSite) return isNavigation ? interstitial() : plain(403, "Other sites may not load this.");

  const url = new URL(request.url);
  const isLoginPage = url.pathname === "/login";
  if (await sessions.find(request))
    return isLoginPage ? redirect(safeNext(url.searchParams.get("next"))) : { go: true };
  if (sessions.signInMode === "open") {
    if (isLoginPage) return redirect(safeNext(url.searchParams.get("next")));
    return isNavigation ? { go: true, cookie: await sessions.begin(host) } : { go: true };
  }
  if (!isLoginPage) return redirect(`/login?next=${encodeURIComponent(url.pathname + url.search)}`);
  const link = url.searchParams.get("link");
  if (link !== null && sessions.signInMode === "link" && sessions.useLink(link))
    return redirect("/", await sessions.begin(host));
  return { go: true };
}

/** A place inside the app to go to after signing in; anything else becomes the first page. */
export function safeNext(next: string | null): string {
  if (!next || !/^\/(?![/\\])/.test(next) || /[\\\p{Cc}]/u.test(next)) return "/";
  const base = "http://troupe.invalid";
  if (!URL.canParse(next, base)) return "/";
  const url = new URL(next, base);
  return url.origin === base && !url.pathname.startsWith("//") ? url.pathname + url.search : "/";
}

/**
 * Somebody followed a link on another site. Browsers keep strict cookies back then, so the page asks for itself once
 * more, from here, and the cookie comes along.
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

/** To a place on this server. The address is relative: the public name is not ours to guess. */
function redirect(location: string, cookie?: string): PageDecision {
  const headers = new Headers({ location, "cache-control": "no-store" });
  if (cookie) headers.set("set-cookie", cookie);
  return { go: false, answer: new Response(null, { status: 307, headers }) };
}
