"use client";

import { Button, ButtonLink } from "@/components/ui/button";

export default function PageError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
    <div
      role="alert"
      className="flex min-h-full flex-col items-center justify-center gap-3 px-6 py-24 text-center"
    >
      <h1 className="font-serif text-4xl">Something went wrong</h1>
      <p className="max-w-md text-ink-2">
        Saved work is safe on the server, and runs continue. Try again. If the problem persists, report the
        details below.
      </p>
      <pre className="max-w-full overflow-x-auto rounded-lg border border-line bg-sunken px-3 py-2 text-left font-mono text-xs text-ink-2">
        {error.message}
        {error.digest ? `\n${error.digest}` : ""}
      </pre>
      <div className="mt-2 flex gap-2">
        <ButtonLink href="/">Go to Workflows</ButtonLink>
        <Button variant="primary" onClick={reset}>
          Try again
        </Button>
      </div>
    </div>
  );
}
