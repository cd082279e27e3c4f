"use client";

import clsx from "clsx";
import { Search } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { EmptyState } from "@/components/ui/empty-state";
import { TextField } from "@/components/ui/text-field";
import { countUses, type Use } from "@/server/domain/library/uses";

export interface LibraryRow {
  /** What it is known by. */
  key: string;
  href: string;
  face: ReactNode;
  name: string;
  line: string;
  badge?: ReactNode;
  uses: readonly Use[];
}

export interface LibraryListProps {
  title: string;
  /** What it is, in one word and in its plural, such as "role" and "roles". */
  noun: [one: string, many: string];
  /** The key of the one that is open. */
  current: string | undefined;
  rows: readonly LibraryRow[];
  actions: ReactNode;
  /** Other lists of the same place. */
  tabs?: ReactNode;
  notice?: ReactNode;
  /** What is said where there is nothing at all. */
  empty: ReactNode;
}

/** Everything of one kind in the library, with a search. */
export function LibraryList({ title, noun, current, rows, ...parts }: LibraryListProps) {
  const [search, setSearch] = useState("");
  const [one, many] = noun;
  const terms = search.trim().toLowerCase().split(/\s+/);
  const found = rows.filter(({ name, line }) =>
    terms.every((word) => `${name} ${line}`.toLowerCase().includes(word)),
  );
  return (
    <>
      <header className="flex flex-col gap-3 px-4 pt-6 pb-3">
        <div className="flex items-center gap-1">
          <h1 className="flex-1 font-serif text-[34px] leading-10 tracking-[-0.01em]">{title}</h1>
          {parts.actions}
        </div>
        {parts.tabs}
        {rows.length > 0 ? (
          <TextField
            label={`Search ${many}`}
            hideLabel
            type="search"
            placeholder={`Search ${many}`}
            icon={<Search aria-hidden="true" />}
            value={search}
            onValueChange={setSearch}
          />
        ) : null}
      </header>
      {parts.notice}
      {found.length > 0 ? (
        // Positioned, so that text for screen readers only scrolls with the list and not with the page.
        <ul aria-label={title} className="relative min-h-0 flex-1 overflow-y-auto px-2 pb-4">
          {found.map((row) => (
            <li key={row.key}>
              <Row row={row} isCurrent={row.key === current} />
            </li>
          ))}
        </ul>
      ) : rows.length === 0 ? (
        parts.empty
      ) : (
        <EmptyState title={`No ${one} matches “${search}”`} />
      )}
    </>
  );
}

function Row({ row, isCurrent }: { row: LibraryRow; isCurrent: boolean }) {
  const { href, face, name, line, badge, uses } = row;
  return (
    <Link
      href={href}
      aria-current={isCurrent ? "true" : undefined}
      className={clsx(
        "flex items-center gap-3 rounded-lg px-2 py-2 transition-colors",
        isCurrent ? "bg-ink/7" : "hover:bg-ink/3.5",
      )}
    >
      <span className="flex shrink-0 -space-x-2">{face}</span>
      <span className="min-w-0 flex-1">
        <span className="flex items-center gap-2 font-medium">
          <span className="truncate">{name}</span>
          {badge}
        </span>
        <span className="block truncate text-[13px] text-ink-2">{line}</span>
      </span>
      {uses.length > 0 ? (
        <span title={`Used by ${countUses(uses)}`} className="text-xs text-ink-3 tabular-nums">
          <span aria-hidden="true">{uses.length}</span>
          <span className="sr-only">{`Used by ${countUses(uses)}`}</span>
        </span>
      ) : null}
    </Link>
  );
}
