import { Emblem, Wordmark } from "@/components/shell/wordmark";
import { getAccess } from "@/server/access/current";
import { safeNext } from "@/server/access/page-auth";
import { LoginForm } from "./login-form";

export const dynamic = "force-dynamic";
export const metadata = { title: "Sign in" };

export default async function LoginPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}) {
  const { next, link } = await searchParams;
  const byPassword = getAccess().sessions.signInMode === "password";
  return (
    <main className="grid min-h-dvh place-items-center bg-stage px-5 py-16">
      <div className="w-full max-w-90 rounded-2xl border border-line bg-surface p-8 shadow-2">
        <h1 className="flex items-center gap-3">
          <Emblem size={32} />
          <Wordmark />
        </h1>
        {byPassword ? (
          <LoginForm next={safeNext(typeof next === "string" ? next : null)} />
        ) : (
          <LinkNeeded wasUsed={link !== undefined} />
        )}
      </div>
    </main>
  );
}

function LinkNeeded({ wasUsed }: { wasUsed: boolean }) {
  return (
    <div className="mt-6 flex flex-col gap-3 text-ink-2">
      <p>
        {wasUsed ? "This link has already been used or has expired." : "Sign in with your one-time link."}
      </p>
      <p>The current link is in the terminal where Troupe was started. Restart Troupe to print a new one.</p>
    </div>
  );
}
