import { ButtonLink } from "@/components/ui/button";

export default function NotFound() {
  return (
    <div className="flex min-h-full flex-col items-center justify-center gap-3 px-6 py-24 text-center">
      <p className="font-mono text-[13px] text-ink-3">404</p>
      <h1 className="font-serif text-4xl">Page not found</h1>
      <p className="max-w-sm text-ink-2">This page doesn't exist or was deleted.</p>
      <ButtonLink href="/" variant="primary" className="mt-2">
        Go to Workflows
      </ButtonLink>
    </div>
  );
}
