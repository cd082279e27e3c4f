"use client";

import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { TextField } from "@/components/ui/input/text-field";
import type { Use } from "@/server/domain/library/uses";
import type { ItemForm, LibraryItem } from "./library-editor";
import type { LibraryCalls } from "./library-menu";
import { UsesList } from "./uses-list";

/** The server calls for items with an id besides their name: agents and crews. */
interface NamedRouter<T, Stored> {
  create: { mutate(content: T): Promise<{ id: string }> };
  save: { mutate(content: T & { id: string; revision: number }): Promise<{ revision: number }> };
  get: { query(item: { id: string }): Promise<Stored> };
  duplicate: { mutate(item: { id: string }): Promise<{ id: string }> };
  restore: { mutate(content: T): Promise<unknown> };
  remove: { mutate(item: { id: string; force: boolean }): Promise<unknown> };
  export: {
    query(wanted: { ids: string[]; format: "yaml" | "json" }): Promise<{ file_name: string; text: string }>;
  };
}

interface StoredItem {
  id: string;
  revision: number;
}

export const namedCalls = <T, Stored extends StoredItem>(
  router: NamedRouter<NoInfer<T>, Stored>,
  contentOf: (stored: Stored) => T,
  invalidate: () => Promise<unknown>,
): LibraryCalls<T> => ({
  create: async (content) => (await router.create.mutate(content)).id,
  save: async (id, content, revision) => ({
    key: id,
    ...(await router.save.mutate({ ...content, id, revision })),
  }),
  get: async (id) => {
    const stored = await router.get.query({ id });
    return { content: contentOf(stored), revision: stored.revision };
  },
  duplicate: async (id) => (await router.duplicate.mutate({ id })).id,
  restore: (content) => router.restore.mutate(content),
  remove: (id, force) => router.remove.mutate({ id, force }),
  file: (id, format) => router.export.query({ ids: [id], format }),
  invalidate,
});

export const namedItem = <T, Stored extends StoredItem & { used_by: readonly Use[] }>(
  stored: Stored | null,
  contentOf: (stored: Stored) => T,
): LibraryItem<T> | null =>
  stored && {
    key: stored.id,
    revision: stored.revision,
    used_by: stored.used_by,
    content: contentOf(stored),
  };

/** The fields of an item with an id of its own: its name, the rest of its form, and what uses it. */
export function NamedItemFields<D extends { name: string }>({
  form: { draft, wasTried },
  saved,
  placeholder,
  unused,
  children,
}: {
  form: ItemForm<D>;
  saved: Pick<LibraryItem<unknown>, "used_by"> | null;
  placeholder: string;
  /** Shown while nothing uses it. */
  unused: string;
  children: ReactNode;
}) {
  const { name } = draft.content;
  return (
    <div key={draft.generation} className="@container flex max-w-2xl flex-col gap-5 px-4 py-6 sm:px-6">
      <TextField
        label="Name"
        value={name}
        onValueChange={(next) => draft.set((before) => ({ ...before, name: next }))}
        maxLength={200}
        placeholder={placeholder}
        error={wasTried && name.trim() === "" ? "Enter a name." : undefined}
      />
      {children}
      {saved ? (
        <div className="border-t border-line pt-5">
          <UsesList uses={saved.used_by} nobody={unused} />
        </div>
      ) : null}
    </div>
  );
}

/** A problem that keeps runs from starting, shown where it can be fixed. */
export const Remark = ({ children }: { children: string }) => (
  <p className="flex gap-2 text-[13px]">
    <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-waiting" />
    {children}
  </p>
);
