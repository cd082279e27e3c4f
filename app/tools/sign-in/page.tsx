import type { Metadata } from "next";
import { Suspense } from "react";
import { SignInReturn } from "@/components/library/tools/sign-in-return";

export const metadata: Metadata = { title: "Signing in" };

/** Where people come back to from an authorization server. It holds nothing: the session finishes what it began. */
export default function SignIn() {
  return (
    <Suspense>
      <SignInReturn />
    </Suspense>
  );
}
