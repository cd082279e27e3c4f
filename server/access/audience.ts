import { type Env, isLoopback } from "@/server/settings";
import type { SignInMode } from "./sessions";

/** To whom this installation is open, in sentences for the person who starts it. */
export function audienceOf(signInMode: SignInMode, env: Env): string[] {
  const address = env.TROUPE_PUBLIC_URL?.trim();
  const isNear = isLoopback(env.HOST || "127.0.0.1");
  const reach = address
    ? `Whoever reaches ${address} reaches it`
    : isNear
      ? "Other machines cannot reach it"
      : "Other machines can reach it";
  if (signInMode === "password") return [`${reach}. It asks everybody for the password.`];
  if (signInMode === "link")
    return [`${reach}. The link above works once; nobody comes in without one. Each start prints a new one.`];
  return address
    ? [`${reach}, and nothing asks who they are. To ask for a password, set TROUPE_PASSWORD.`]
    : [
        `${reach}. Every program and every user of this machine can use it: nothing asks who they are.`,
        `To let in only who has a one-time link: ${env.TROUPE_PROGRAM || "npm start --"} --link`,
      ];
}
