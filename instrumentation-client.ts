import { watchSteps } from "@/components/page/leaving";

// Runs before the application hydrates.

// Otherwise zod tests whether it may compile code, and the content security policy logs an error to the console. Each copy of
// zod on a page reads its settings here.
Object.assign(window, { __zod_globalConfig: { jitless: true } });

watchSteps();

type Rule = (text: string) => string | null;
interface TrustedTypes {
  createPolicy(name: "default", rules: { createScriptURL: Rule; createHTML: Rule }): unknown;
}

/**
 * Browsers with Trusted Types reject scripts that are added by a plain URL, which is how the bundler adds chunks on demand.
 * This allows the URLs of our own build, and the empty element and the theme with which React renders the layout again for
 * a page that doesn't exist. Other markup, and code from strings, stay rejected.
 */
const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
trustedTypes?.createPolicy("default", {
  createScriptURL(address) {
    const { origin, pathname } = new URL(address, window.location.href);
    const isOwn = pathname.startsWith("/_next/static/") || pathname === "/theme.js";
    return isOwn && origin === window.location.origin ? address : null;
  },
  createHTML: (markup) => (markup === "<script></script>" ? markup : null),
});
