import type { ReactNode } from "react";
import { toApiError } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";

const scrollIntoView = (element: HTMLElement | null) => element?.scrollIntoView({ block: "nearest" });

/** Why a request failed, as an alert in a form; nothing while there is no error. */
export function ErrorText({ error }: { error: unknown }) {
  return error ? (
    // On a phone it appears below the visible part of a dialog.
    <p ref={scrollIntoView} role="alert" className="text-[13px] text-failed [overflow-wrap:anywhere]">
      {typeof error === "string" ? error : toApiError(error).message}
    </p>
  ) : null;
}

/** In place of data that did not load: why, and a button that tries again. */
export function LoadError({
  what,
  queries,
  isPage,
  className,
}: {
  /** Such as "roles". */
  what: string;
  queries: readonly { error: unknown; refetch: () => unknown }[];
  isPage?: boolean;
  className?: string;
}) {
  return (
    <EmptyState
      className={className}
      isPage={isPage}
      title={`Couldn't load ${what}`}
      actions={<Button onClick={() => queries.forEach((query) => void query.refetch())}>Try again</Button>}
    >
      {toApiError(queries.find(({ error }) => error)?.error).message}
    </EmptyState>
  );
}

/** In place of a page that can't be shown: why, and the way to a page that can. */
export function PageError(props: {
  icon: ReactNode;
  title: string;
  error: unknown;
  back: { href: string; label: string };
}) {
  return (
    <EmptyState
      icon={props.icon}
      isPage
      title={props.title}
      className="h-full justify-center"
      actions={
        <ButtonLink href={props.back.href} variant="primary">
          {props.back.label}
        </ButtonLink>
      }
    >
      {toApiError(props.error).message}
    </EmptyState>
  );
}
