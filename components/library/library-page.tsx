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

/** What has to be there before the page can be shown. */
interface Asked {
  data: unknown;
  error: unknown;
  refetch: () => unknown;
}

export interface LibraryPageProps<T> {
  title: string;
  /** What it is, in one word and in its plural, such as "role" and "roles". The address names the open one by the first. */
  noun: [one: string, many: string];
  icon: ReactNode;
  /** Everything that the page asks the server for; it waits for all. */
  queries: readonly Asked[];
  /** All there are; absent while they are on their way. */
  all: readonly T[] | undefined;
  keyOf: (thing: T) => string;
  rowOf: (thing: T) => Omit<LibraryRow, "key" | "href">;
  /** Beside "New". */
  actions: ReactNode;
  tabs?: ReactNode;
  notice?: ReactNode;
  /** What such a thing is good for, where there is none yet. */
  about: ReactNode;
  /** Ready-made ones to begin with, where nothing is open. */
  starters?: ReactNode;
  /** What is said where none is chosen. */
  choose: ReactNode;
  /** The form of one; null: of a new one. */
  editor: (thing: T | null) => ReactNode;
  children?: ReactNode;
}

/** All things of one kind of the library beside the form of one. On phones one after the other. */
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
  const article = /^[aeiou]/.test(one) ? "an" : "a";
  return (
    <SplitPage label={`All ${many}`} href={href} list={list} isOpen={isNew || asked !== null}>
      {isNew ? (
        props.editor(null)
      ) : chosen ? (
        props.editor(chosen)
      ) : (
        <div className="flex min-h-0 flex-1 flex-col items-center justify-center-safe gap-8 overflow-y-auto p-6">
          <EmptyState
            isPage={asked !== null}
            icon={icon}
            title={
              asked
                ? `There is no ${one} “${asked}”`
                : all.length > 0
                  ? `Choose ${article} ${one}`
                  : `Make the first ${one}`
            }
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

/** In the place of an editor that is on its way. */
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
