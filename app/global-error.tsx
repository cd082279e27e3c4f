"use client";

import "./globals.css";

/** The last resort: the frame itself broke, so nothing of it is used here. */
export default function GlobalError({ error, reset }: { error: Error; reset: () => void }) {
  return (
    <html lang="en">
      <body className="flex min-h-dvh flex-col items-center justify-center gap-4 p-6 text-center">
        <h1 className="font-serif text-4xl">Something went wrong</h1>
        <p className="max-w-md text-ink-2">{error.message}</p>
        <button
          type="button"
          onClick={reset}
          className="rounded-lg bg-accent px-3 py-1.5 font-medium text-accent-ink"
        >
          Try again
        </button>
      </body>
    </html>
  );
}
