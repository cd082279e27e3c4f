import { type Env, isLoopback } from "@/server/settings";
import type { SignInMode } from "./sessions";

/** To whom this installation is open, in sentences for the person who starts it. */
export function audienceOf(signInMode: SignInMode, env: Env): string[] {
  const address = env.TROUPE_PUBLIC_URL?.trim();
  const isNear = isLoopback(env.HOST || "127.0.0.1");
  const reach = address
    ? `Anyone who can reach ${address} can use it`
    : isNear
      ? "Other machines can't reach it"
      : "Other machines can reach it";
  if (signInMode === "password") return [`${reach}. Everyone needs the password.`];
  if (signInMode === "link")
    return [
      `${reach}. The link above is required to sign in and works once. A new link is printed at each start.`,
    ];
  return address
    ? [`${reach} without a password. Set TROUPE_PASSWORD to require one.`]
    : [
        `${reach}. Any user or program on this machine can use it without signing in.`,
        `To require a one-time link: ${env.TROUPE_PROGRAM || "npm start --"} --link`,
      ];
}
