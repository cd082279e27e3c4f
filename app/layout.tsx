import type { Metadata, Viewport } from "next";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { Shell } from "@/components/shell/shell";
import { TroupeApi } from "@/components/trpc";
import { Toaster } from "@/components/ui/toasts";
import { FORM_PAGE_HEADER } from "@/server/access/form-pages";
import { readSettings } from "@/server/settings";
import "./globals.css";

export const metadata: Metadata = {
  title: { default: "Troupe", template: "%s · Troupe" },
  description: "Build workflows with role-based AI agents, and watch them run live on the canvas.",
};

export const viewport: Viewport = {
  width: "device-width",
  initialScale: 1,
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#faf8f5" },
    { media: "(prefers-color-scheme: dark)", color: "#171217" },
  ],
};

export default async function RootLayout({ children }: { children: ReactNode }) {
  const sent = await headers();
  const nonce = sent.get("x-nonce") ?? undefined;
  const isForm = sent.has(FORM_PAGE_HEADER);
  return (
    // theme.js sets data-theme before React wakes up.
    <html lang="en" suppressHydrationWarning>
      <head>
        {/* It must run before the first paint. */}
        {/* oxlint-disable-next-line nextjs/no-sync-scripts */}
        <script src="/theme.js" nonce={nonce} suppressHydrationWarning />
      </head>
      <body className="isolate">
        {/* The public page of a form has nothing of the app around it. */}
        {isForm ? (
          children
        ) : (
          <TroupeApi>
            <Shell hasEngine={readSettings().TROUPE_ENGINE === "restate"}>{children}</Shell>
            <Toaster />
          </TroupeApi>
        )}
      </body>
    </html>
  );
}
