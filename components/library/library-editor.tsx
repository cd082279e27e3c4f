"use client";

import { useMutation } from "@tanstack/react-query";
import { TriangleAlert, X } from "lucide-react";
import { type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { toApiError } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Form } from "@/components/ui/input/form";
import { toast } from "@/components/ui/toasts";
import { recordOf } from "@/server/domain/base/guards";
import { isSameJson } from "@/server/domain/base/json";
import type { Use } from "@/server/domain/library/uses";
import { type LibraryCalls, LibraryMenu } from "./library-menu";
import { SheetContext, useEditorPlace } from "./place";
import { UnsavedGuard } from "./unsaved-guard";
import { type Draft, useDraft, type Version } from "./use-draft";

/** A saved item of the library. `key`: its name (roles) or its id. */
export interface LibraryItem<T> extends Version<T> {
  key: string;
  used_by: readonly Use[];
}

export interface ItemForm<D> {
  draft: Draft<D>;
  /** After an attempt to save, required fields show their errors. */
  wasTried: boolean;
}

/** `T` is what is saved; `D` is what it may be while it is edited. */
export interface LibraryEditorProps<D, T extends D> {
  noun: "role" | "agent" | "crew";
  saved: LibraryItem<T> | null;
  /** The content of a new item. */
  initial: D;
  calls: LibraryCalls<T>;
  /** The draft as it would be saved; null while it is not valid. */
  tidy: (draft: D) => T | null;
  /** Items from a file cannot be saved. */
  isReadOnly?: boolean;
  /** What happens to its users when it is deleted, such as "cannot run without it". */
  loss: string;
  onDiscard?: () => void;
  face?: (draft: D) => ReactNode;
  /** Beside the name. */
  badges?: ReactNode;
  /** Above the form. */
  notice?: ReactNode;
  children: (form: ItemForm<D>) => ReactNode;
}

/** Edits one item of the library: name, saving, conflicts, leaving unsaved, and its menu. Mount it with its key. */
export function LibraryEditor<D extends { name: string }, T extends D>(props: LibraryEditorProps<D, T>) {
  const { noun, saved, tidy, isReadOnly = false } = props;
  const draft = useDraft<D>(saved, props.initial, (a, b) => isSameJson(tidy(a) ?? a, tidy(b) ?? b));
  const { name } = draft.content;
  const form = useRef<HTMLFormElement>(null);
  const [wasTried, setTried] = useState(false);
  const { isSaving, save } = useSaving(props, draft, () => setTried(false));
  const submit = (revision: number) => {
    setTried(true);
    const content = tidy(draft.content);
    if (content) save({ content, revision });
    else
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
  };

  const isInSheet = useContext(SheetContext) !== null;
  useEffect(() => {
    // A sheet opens before its form has loaded.
    if (isInSheet) form.current?.querySelector<HTMLElement>("input, textarea")?.focus();
  }, [isInSheet]);
  const cannotSave = isReadOnly || (!draft.isChanged && saved !== null);
  useSaveShortcut(cannotSave || isSaving ? null : () => submit(draft.base.revision));
  return (
    <Form
      ref={form}
      aria-label={
        saved ? `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${saved.content.name}` : `New ${noun}`
      }
      onSubmit={() => submit(draft.base.revision)}
      className="flex min-h-0 flex-1 flex-col"
    >
      <Header editor={props} draft={draft}>
        {draft.isChanged && saved ? (
          <Button
            variant="ghost"
            className="max-sm:hidden"
            onClick={() => {
              draft.discard();
              setTried(false);
              props.onDiscard?.();
            }}
          >
            Discard
          </Button>
        ) : null}
        {isReadOnly ? null : (
          <Button type="submit" variant="primary" pending={isSaving} disabled={cannotSave}>
            {saved ? "Save" : `Create ${noun}`}
          </Button>
        )}
      </Header>
      {props.notice}
      {draft.theirs ? <Conflict noun={noun} draft={draft} onSubmit={submit} /> : null}
      <div className="min-h-0 flex-1 overflow-y-auto">{props.children({ draft, wasTried })}</div>
      <UnsavedGuard
        active={draft.isChanged && !draft.isLeaving && !isSaving}
        what={name ? `“${name}”` : `the new ${noun}`}
        onDiscard={draft.leave}
      />
    </Form>
  );
}

/** Creates the item or saves a new version of it. */
function useSaving<D extends { name: string }, T extends D>(
  { noun, saved, calls }: LibraryEditorProps<D, T>,
  draft: Draft<D>,
  onSaved: () => void,
) {
  const place = useEditorPlace(`/${noun}s`, noun);
  const create = useMutation({
    mutationFn: ({ content }: Version<T>) => calls.create(content),
    onSuccess: (key, { content }) => {
      draft.leave();
      void calls.invalidate();
      toast(`Created “${content.name}”`, { tone: "success" });
      place.saved(key);
    },
  });
  const save = useMutation({
    mutationFn: ({ content, revision }: Version<T>) => calls.save(saved?.key ?? "", content, revision),
    onSuccess: ({ key, revision, detail }, { content }) => {
      draft.onSaved({ content, revision });
      onSaved();
      void calls.invalidate();
      toast(`Saved “${content.name}”`, { tone: "success", detail });
      if (!place.isSheet && key === saved?.key) return;
      // A new name changes the address, and with it this component's key: the guard must not ask on the way.
      draft.leave();
      place.saved(key);
    },
    onError: (error) => {
      const { message, detail } = toApiError(error);
      if (saved && recordOf(detail).reason === "stale") void calls.get(saved.key).then(draft.onConflict);
      else toast(message, { tone: "error" });
    },
  });
  return { isSaving: create.isPending || save.isPending, save: saved ? save.mutate : create.mutate };
}

function Header<D extends { name: string }, T extends D>({
  editor: { noun, saved, calls, loss, isReadOnly, face, badges },
  draft,
  children,
}: {
  editor: LibraryEditorProps<D, T>;
  draft: Draft<D>;
  /** The buttons that discard and save. */
  children: ReactNode;
}) {
  const sheet = useContext(SheetContext);
  const Heading = sheet ? "h2" : "h1";
  return (
    <header className="flex min-h-13 shrink-0 items-center gap-3 border-b border-line px-4 py-2.5 sm:px-6">
      {face?.(draft.content)}
      <Heading className="min-w-0 truncate text-[15px] font-semibold">
        {draft.content.name || `New ${noun}`}
      </Heading>
      {badges}
      <span className="flex-1" />
      {children}
      {saved && !sheet ? (
        <LibraryMenu {...{ noun, saved, calls, loss }} canDelete={!isReadOnly} onLeave={draft.leave} />
      ) : null}
      {sheet ? (
        <IconButton plain label="Close" icon={<X aria-hidden="true" />} onClick={sheet.close} />
      ) : null}
    </header>
  );
}

/** Shown if someone else has saved it meanwhile: either version can win. */
export function Conflict<T>({
  noun,
  draft,
  onSubmit,
}: {
  noun: string;
  draft: Pick<Draft<T>, "theirs" | "takeTheirs">;
  onSubmit: (revision: number) => void;
}) {
  const { theirs, takeTheirs } = draft;
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 border-b border-line bg-waiting/10 px-4 py-3 text-sm sm:px-6"
    >
      <TriangleAlert aria-hidden="true" className="size-4 text-waiting" />
      <p className="min-w-0 flex-1 basis-48">
        {`This ${noun} was changed elsewhere. Your changes aren't saved.`}
      </p>
      <Button size="sm" onClick={takeTheirs}>
        Load latest version
      </Button>
      <Button size="sm" onClick={() => (theirs ? onSubmit(theirs.revision) : undefined)}>
        Overwrite with mine
      </Button>
    </div>
  );
}

/** Ctrl+S and ⌘S call `save`, or do nothing if it is null. They never open the browser's own dialog. */
export function useSaveShortcut(save: (() => void) | null): void {
  const latest = useRef(save);
  useEffect(() => {
    latest.current = save;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      latest.current?.();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}
