import { expect, test } from "vitest";
import { contentSecurityPolicy, PAGE_HEADERS, pageHeaders, STRICT_TRANSPORT } from "./headers";

const rules = (policy: string) =>
  Object.fromEntries(policy.split("; ").map((rule) => rule.split(/ (.*)/, 2) as [string, string]));
const ALWAYS = {
  "default-src": "'self'",
  "style-src": "'self' 'unsafe-inline'",
  "img-src": "'self' data: blob:",
  "font-src": "'self'",
  "object-src": "'none'",
  "base-uri": "'none'",
  "form-action": "'self'",
  "frame-ancestors": "'none'",
  "frame-src": "'none'",
  "worker-src": "'self' blob:",
};

test("a page only runs scripts with its nonce and loads from this server", () => {
  expect(rules(contentSecurityPolicy("abc", false))).toEqual({
    ...ALWAYS,
    "script-src": "'nonce-abc' 'strict-dynamic'",
    "connect-src": "'self'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "nextjs default",
  });
});

test("only the listed sites may embed a page", () => {
  const frames = ["https://example.org", "https://*.example.com:8443"];
  expect(rules(contentSecurityPolicy("abc", false, frames))["frame-ancestors"]).toBe(
    "https://example.org https://*.example.com:8443",
  );
  const { "x-frame-options": _noFrames, ...others } = PAGE_HEADERS;
  expect(pageHeaders(frames)).toEqual(others);
  expect(pageHeaders()).toEqual(PAGE_HEADERS);
});

test("a page may evaluate code and open a WebSocket only in development", () => {
  expect(rules(contentSecurityPolicy("abc", true))).toEqual({
    ...ALWAYS,
    "script-src": "'nonce-abc' 'strict-dynamic' 'unsafe-eval'",
    "connect-src": "'self' ws:",
  });
});

test("every page forbids framing, foreign openers and content sniffing", () => {
  expect({ ...PAGE_HEADERS, "strict-transport-security": STRICT_TRANSPORT }).toEqual({
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "strict-transport-security": "max-age=63072000",
  });
});
