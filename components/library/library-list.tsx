"use client";

import clsx from "clsx";
import { Search } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useId, useState } from "react";
import { EmptyState } from "@/components/ui/empty-state";
import { TextField } from "@/components/ui/input/text-field";
import { countUses, type Use } from "@/server/domain/library/uses";

export interface LibraryRow {
  /** Unique in the list. */
  key: string;
  href: string;
  face?: ReactNode;
  name: string;
  /** Shows the name in a monospaced font. */
  isMono?: boolean;
  line: string;
  badge?: ReactNode;
  /** At the end of the row. */
  mark?: ReactNode;
  uses?: readonly Use[];
  /** The text to search; name and line if absent. Null hides the row from searches. */
  searched?: string | null;
}

export interface LibraryListProps {
  title: string;
  /** Singular and plural, such as "role" and "roles". */
  noun: [one: string, many: string];
  /** The key of the open item. */
  current: string | undefined;
  /** Rows, with titles if there are several kinds. */
  groups: readonly { title?: string; rows: readonly LibraryRow[] }[];
  actions: ReactNode;
  /** Tabs for other lists of the same page. */
  tabs?: ReactNode;
  notice?: ReactNode;
  /** Shown if there are no items. */
  empty?: ReactNode;
  /** Shown below all rows, except during a search. */
  children?: ReactNode;
}

/** The items of one kind in the library, with a search. */
export function LibraryList({ title, noun, current, groups, ...parts }: LibraryListProps) {
  const [search, setSearch] = useState("");
  const [one, many] = noun;
  const terms = search.trim().toLowerCase().split(/\s+/);
  const isSearching = search.trim() !== "";
  const fits = ({ name, line, searched }: LibraryRow) => {
    const text = (searched ?? `${name} ${line}`).toLowerCase();
    return !isSearching || (searched !== null && terms.every((term) => text.includes(term)));
  };
  const found = groups
    .map((group) => ({ ...group, rows: group.rows.filter(fits) }))
    .filter(({ rows }) => rows.length > 0);
  const isEmpty = groups.every(({ rows }) => rows.length === 0);
  return (
    <>
      <header className="flex flex-col gap-3 px-4 pt-6 pb-3">
        <div className="flex items-center gap-1">
          <h1 className="flex-1 font-serif text-[34px] leading-10 tracking-[-0.01em]">{title}</h1>
          {parts.actions}
        </div>
        {parts.tabs}
        {isEmpty ? null : (
          <TextField
            label={`Search ${many}`}
            hideLabel
            type="search"
            placeholder={`Search ${many}`}
            icon={<Search aria-hidden="true" />}
            value={search}
            onValueChange={setSearch}
          />
        )}
      </header>
      {parts.notice}
      {isEmpty ? (
        parts.empty
      ) : (
        // Positioned, so that screen-reader text scrolls with the list, not the page.
        <div className="relative min-h-0 flex-1 overflow-y-auto px-2 pb-4">
          {found.map((group) => (
            <Group key={group.title ?? ""} label={title} title={group.title}>
              {group.rows.map((row) => (
                <Row key={row.key} row={row} isCurrent={row.key === current} isDense={!!group.title} />
              ))}
            </Group>
          ))}
          {found.length === 0 ? <EmptyState title={`No ${one} matches “${search}”`} /> : null}
          {isSearching ? null : parts.children}
        </div>
      )}
    </>
  );
}

function Group({
  label,
  title,
  children,
}: {
  label: string;
  title: string | undefined;
  children: ReactNode;
}) {
  const id = useId();
  return title === undefined ? (
    <ul aria-label={label}>{children}</ul>
  ) : (
    <section aria-labelledby={id} className="pt-3">
      <h2 id={id} className="px-2 pb-1 text-xs font-semibold text-ink-3">
        {title}
      </h2>
      <ul>{children}</ul>
    </section>
  );
}

function Row({ row, isCurrent, isDense }: { row: LibraryRow; isCurrent: boolean; isDense: boolean }) {
  const { href, face, name, isMono, line, badge, mark, uses = [] } = row;
  return (
    <li>
      <Link
        href={href}
        aria-current={isCurrent ? "true" : undefined}
        className={clsx(
          "flex items-center gap-3 rounded-lg px-2 transition-colors",
          isDense ? "py-1.5" : "py-2",
          isCurrent ? "bg-ink/7" : "hover:bg-ink/3.5",
        )}
      >
        {face ? <span className="flex shrink-0 -space-x-2 text-ink-3">{face}</span> : null}
        <span className="min-w-0 flex-1">
          <span className="flex items-center gap-2">
            <span className={clsx("truncate", isMono ? "font-mono text-[13px]" : "font-medium")}>{name}</span>
            {badge}
          </span>
          <span className="block truncate text-[13px] text-ink-2">{line}</span>
        </span>
        {mark}
        {uses.length > 0 ? (
          <span title={`Used by ${countUses(uses)}`} className="text-xs text-ink-3 tabular-nums">
            <span aria-hidden="true">{uses.length}</span>
            <span className="sr-only">{`Used by ${countUses(uses)}`}</span>
          </span>
        ) : null}
      </Link>
    </li>
  );
}
