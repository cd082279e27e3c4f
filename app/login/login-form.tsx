"use client";

import { type FormEvent, useState } from "react";
import { z } from "zod";
import { Button } from "@/components/ui/button";
import { TextField } from "@/components/ui/input/text-field";

const Answer = z.object({ next: z.string().optional(), error: z.object({ message: z.string() }).optional() });

type Asking = { state: "idle" } | { state: "asking" } | { state: "refused"; reason: string };

/** Asks for the password and goes on to `next`. */
export function LoginForm({ next }: { next: string }) {
  const [password, setPassword] = useState("");
  const [asking, setAsking] = useState<Asking>({ state: "idle" });

  async function submit(event: FormEvent) {
    event.preventDefault();
    setAsking({ state: "asking" });
    const answer = await askIn(password, next);
    // A whole page load, so that it comes with what the session may see.
    if ("next" in answer) window.location.assign(answer.next);
    else setAsking({ state: "refused", reason: answer.reason });
  }

  return (
    <form onSubmit={submit} className="mt-6 flex flex-col gap-5">
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        autoFocus
        required
        value={password}
        onValueChange={setPassword}
        error={asking.state === "refused" ? <span role="alert">{asking.reason}</span> : undefined}
      />
      <Button type="submit" variant="primary" pending={asking.state === "asking"}>
        Sign in
      </Button>
    </form>
  );
}

async function askIn(password: string, next: string): Promise<{ next: string } | { reason: string }> {
  try {
    const response = await fetch("/api/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ password, next }),
    });
    const answer = Answer.parse(await response.json());
    return response.ok
      ? { next: answer.next ?? "/" }
      : { reason: answer.error?.message ?? "Sign-in failed. Try again." };
  } catch {
    return { reason: "Can't reach the server. Check that it's running." };
  }
}
