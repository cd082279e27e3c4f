/**
 * Headers of every page. next.config.mjs sends the same on files and on the API, but for the policy, whose nonce is
 * new for each page.
 */
export const PAGE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
} as const;

/** Headers of a page that these sites may embed. */
export function pageHeaders(frameAncestors: readonly string[] = []): Record<string, string> {
  const { "x-frame-options": noFrames, ...others } = PAGE_HEADERS;
  return { ...others, ...(frameAncestors.length === 0 && { "x-frame-options": noFrames }) };
}

/** Two years, once the public address is https. */
export const STRICT_TRANSPORT = "max-age=63072000";

/**
 * What a page may load and run: our own scripts by nonce, nothing else. Styles may be inline because the canvas places
 * its nodes with them. In development the bundler evaluates code and reloads over a socket.
 */
export function contentSecurityPolicy(
  nonce: string,
  isDevelopment: boolean,
  frameAncestors: readonly string[] = [],
): string {
  return [
    "default-src 'self'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'${isDevelopment ? " 'unsafe-eval'" : ""}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${isDevelopment ? " ws:" : ""}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${frameAncestors.join(" ") || "'none'"}`,
    "frame-src 'none'",
    "worker-src 'self' blob:",
    ...(isDevelopment ? [] : ["require-trusted-types-for 'script'", "trusted-types nextjs default"]),
  ].join("; ");
}
