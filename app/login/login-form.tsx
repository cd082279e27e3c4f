"use client";

import { type FormEvent, useState } from "react";
import { z } from "zod";

const Answer = z.object({ next: z.string().optional(), error: z.object({ message: z.string() }).optional() });

type Asking = { state: "idle" } | { state: "asking" } | { state: "refused"; reason: string };

/** Asks for the password and goes on to `next`. */
export function LoginForm({ next }: { next: string }) {
  const [asking, setAsking] = useState<Asking>({ state: "idle" });

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const password = new FormData(event.currentTarget).get("password");
    setAsking({ state: "asking" });
    try {
      const response = await fetch("/api/session", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ password, next }),
      });
      const answer = Answer.parse(await response.json());
      if (response.ok) window.location.assign(answer.next ?? "/");
      else setAsking({ state: "refused", reason: answer.error?.message ?? "That did not work." });
    } catch {
      setAsking({ state: "refused", reason: "The server does not answer. Is it running?" });
    }
  }

  return (
    <form onSubmit={submit} className="mt-6 grid gap-4">
      <label className="grid gap-1.5 font-medium text-ink-2">
        Password
        <input
          name="password"
          type="password"
          autoComplete="current-password"
          required
          autoFocus
          aria-invalid={asking.state === "refused"}
          aria-describedby="login-problem"
          className="h-10 rounded-md border border-line-strong bg-raised px-3 text-ink"
        />
      </label>
      <p id="login-problem" role="alert" className="min-h-5 text-failed empty:hidden">
        {asking.state === "refused" ? asking.reason : null}
      </p>
      <button
        type="submit"
        disabled={asking.state === "asking"}
        className="h-10 rounded-md bg-accent px-4 font-medium text-accent-ink hover:bg-accent-hover disabled:opacity-60"
      >
        {asking.state === "asking" ? "Signing in…" : "Sign in"}
      </button>
    </form>
  );
}
