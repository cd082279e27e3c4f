import { watchSteps } from "@/components/page/leaving";

// Runs before the application wakes up.

// Otherwise zod, which comes later, asks the browser whether it may compile code, and the pages' policy answers with an
// error in the console. This is where each copy of zod on a page looks for its settings.
Object.assign(window, { __zod_globalConfig: { jitless: true } });

watchSteps();

interface TrustedTypes {
  createPolicy(name: "default", rules: { createScriptURL(url: string): string | null }): unknown;
}

/**
 * Browsers that know trusted types refuse every script that is added by a plain address, and the bundler adds parts
 * that load on demand just so. This lets those addresses through that our own build made; markup and code from text
 * stay refused, because there are no rules that would make them trusted.
 */
const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
trustedTypes?.createPolicy("default", {
  createScriptURL(address) {
    const { origin, pathname } = new URL(address, window.location.href);
    return origin === window.location.origin && pathname.startsWith("/_next/static/") ? address : null;
  },
});
