"use client";

import { Plus } from "lucide-react";
import { useSearchParams } from "next/navigation";
import type { ReactNode } from "react";
import { LoadError } from "@/components/page/error-text";
import { SplitPage } from "@/components/page/split-page";
import { ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Skeleton } from "@/components/ui/skeleton";
import { LibraryList, type LibraryRow } from "./library-list";

/** A query whose data the page needs. */
interface Asked {
  data: unknown;
  error: unknown;
  refetch: () => unknown;
}

export interface LibraryPageProps<T> {
  title: string;
  /** Singular and plural, such as "role" and "roles". The singular is also the query parameter of the open item. */
  noun: [one: string, many: string];
  icon: ReactNode;
  /** The page waits for all of them. */
  queries: readonly Asked[];
  /** Undefined while loading. */
  all: readonly T[] | undefined;
  keyOf: (thing: T) => string;
  rowOf: (thing: T) => Omit<LibraryRow, "key" | "href">;
  /** Beside "New". */
  actions: ReactNode;
  tabs?: ReactNode;
  notice?: ReactNode;
  /** What such items are for; shown if there are none. */
  about: ReactNode;
  /** Ready-made items, shown if none is open. */
  starters?: ReactNode;
  /** Shown if none is open. */
  choose: ReactNode;
  /** The form of an item; null for a new one. */
  editor: (thing: T | null) => ReactNode;
  children?: ReactNode;
}

/** The items of one kind next to the form of the open one. Phones show one of the two. */
export function LibraryPage<T>(props: LibraryPageProps<T>) {
  const { noun, all, queries, keyOf, icon } = props;
  const [one, many] = noun;
  const params = useSearchParams();
  const asked = params.get(one);
  const isNew = params.has("new");
  const href = `/${many}`;
  const error = queries.find((query) => query.error)?.error;
  if (!all || queries.some(({ data }) => data === undefined))
    return error ? (
      <LoadError what={many} queries={queries} isPage className="h-full justify-center" />
    ) : (
      <Loading />
    );
  const chosen = all.find((thing) => keyOf(thing) === asked);
  const create = (label: string, className?: string) => (
    <ButtonLink href={`${href}?new=1`} icon={<Plus aria-hidden="true" />} className={className}>
      {label}
    </ButtonLink>
  );
  const list = (
    <LibraryList
      title={props.title}
      noun={noun}
      current={chosen && keyOf(chosen)}
      groups={[
        {
          rows: all.map((thing) => ({
            ...props.rowOf(thing),
            key: keyOf(thing),
            href: `${href}?${one}=${encodeURIComponent(keyOf(thing))}`,
          })),
        },
      ]}
      actions={
        <>
          {props.actions}
          {create("New", "ml-1")}
        </>
      }
      tabs={props.tabs}
      notice={props.notice}
      empty={
        <div className="min-h-0 flex-1 overflow-y-auto">
          <EmptyState icon={icon} title={`No ${many} yet`} actions={create(`New ${one}`, "md:hidden")}>
            {props.about}
          </EmptyState>
          <div className="px-4 pb-6 md:hidden">{props.starters}</div>
        </div>
      }
    />
  );
  return (
    <SplitPage label={`All ${many}`} href={href} list={list} isOpen={isNew || asked !== null}>
      {isNew || chosen ? (
        props.editor(isNew ? null : (chosen ?? null))
      ) : (
        <div className="flex min-h-0 flex-1 flex-col items-center justify-center-safe gap-8 overflow-y-auto p-6">
          <EmptyState
            isPage={asked !== null}
            icon={icon}
            title={titleOf(one, asked, all.length)}
            actions={create(`New ${one}`)}
          >
            {props.choose}
          </EmptyState>
          {props.starters}
        </div>
      )}
      {props.children}
    </SplitPage>
  );
}

function titleOf(noun: string, asked: string | null, count: number): string {
  if (asked) return `No ${noun} “${asked}”`;
  return count > 0 ? `Choose ${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}` : `Create your first ${noun}`;
}

/** Placeholder of an editor while it loads. */
export const editorLoading = () => (
  <div aria-busy="true" className="p-6">
    <Skeleton className="h-40 w-full max-w-2xl" />
  </div>
);

function Loading() {
  return (
    <div aria-busy="true" className="flex w-full max-w-76 flex-col gap-3 p-4 pt-6">
      <span className="sr-only">Loading</span>
      <Skeleton className="h-10 w-32" />
      <Skeleton className="h-8 w-full" />
      {[1, 2, 3, 4, 5].map((row) => (
        <Skeleton key={row} className="h-12 w-full" />
      ))}
    </div>
  );
}
