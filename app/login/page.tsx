import { getAccess } from "@/server/access/current";
import { safeNext } from "@/server/access/entrance";
import { LoginForm } from "./login-form";

export const dynamic = "force-dynamic";
export const metadata = { title: "Sign in" };

export default async function LoginPage({
  searchParams,
}: {
  searchParams: Promise<{ next?: string | string[]; link?: string }>;
}) {
  const { next, link } = await searchParams;
  const { entrance } = getAccess().sessions;
  return (
    <main className="grid min-h-dvh place-items-center bg-stage px-6 py-16">
      <div className="w-full max-w-sm rounded-xl border border-line bg-surface p-8 shadow-2">
        <h1 className="font-serif text-4xl leading-none text-ink">Troupe</h1>
        {entrance === "password" ? (
          <LoginForm next={safeNext(typeof next === "string" ? next : null)} />
        ) : (
          <p className="mt-4 text-ink-2">
            {link
              ? "This link was used before, or is from an earlier start."
              : "This server opens with a one-time link."}{" "}
            The current one is printed in the terminal where Troupe was started; start it again for a new one.
          </p>
        )}
      </div>
    </main>
  );
}
