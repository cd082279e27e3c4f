import { watchSteps } from "@/components/page/leaving";

// Runs before the application hydrates.

// Otherwise zod tests whether it may compile code, and the content security policy logs an error to the console. Each copy of
// zod on a page reads its settings here.
Object.assign(window, { __zod_globalConfig: { jitless: true } });

watchSteps();

interface TrustedTypes {
  createPolicy(name: "default", rules: { createScriptURL(url: string): string | null }): unknown;
}

/**
 * Browsers with Trusted Types reject scripts that are added by a plain URL, which is how the bundler adds chunks on demand.
 * This allows the URLs of our own build. Markup and code from strings stay rejected, because no rule makes them trusted.
 */
const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
trustedTypes?.createPolicy("default", {
  createScriptURL(address) {
    const { origin, pathname } = new URL(address, window.location.href);
    return origin === window.location.origin && pathname.startsWith("/_next/static/") ? address : null;
  },
});
