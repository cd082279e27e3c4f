"use client";

import { TriangleAlert, X } from "lucide-react";
import { type ReactNode, useContext, useEffect, useRef } from "react";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { SheetContext } from "./place";
import { UnsavedGuard } from "./unsaved-guard";
import type { Draft } from "./use-draft";

export interface LibraryEditorProps<T> {
  /** What it is, such as "role". */
  noun: string;
  /** The name under which it is saved; null for one that is new. */
  savedName: string | null;
  /** The name as it is being written. */
  name: string;
  draft: Draft<T>;
  isSaving: boolean;
  /** Read from a file: nothing can be saved. */
  isReadOnly?: boolean;
  /** Saves over that revision; or creates. */
  onSubmit: (revision: number) => void;
  onDiscard: () => void;
  face?: ReactNode;
  /** What stands beside the name. */
  badges?: ReactNode;
  menu?: ReactNode;
  /** What has to be said above the form. */
  notice?: ReactNode;
  children: ReactNode;
}

/** The frame around the form of a role, an agent or a crew: its name, saving, conflicts, and leaving unsaved. */
export function LibraryEditor<T>(props: LibraryEditorProps<T>) {
  const { noun, savedName, name, draft, isSaving, isReadOnly = false, onSubmit, onDiscard } = props;
  const isNew = savedName === null;
  const sheet = useContext(SheetContext);
  const form = useRef<HTMLFormElement>(null);
  const isInSheet = sheet !== null;
  useEffect(() => {
    // A sheet opens before the form in it has come.
    if (isInSheet) form.current?.querySelector<HTMLElement>("input, textarea")?.focus();
  }, [isInSheet]);
  const Heading = sheet ? "h2" : "h1";
  const mayNotSave = isReadOnly || (!draft.isChanged && !isNew);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      if (!mayNotSave && !isSaving) onSubmit(draft.base.revision);
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  });
  return (
    <form
      ref={form}
      aria-label={isNew ? `New ${noun}` : `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${savedName}`}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(draft.base.revision);
      }}
      className="flex min-h-0 flex-1 flex-col"
    >
      <header className="flex min-h-13 shrink-0 items-center gap-3 border-b border-line px-4 py-2.5 sm:px-6">
        {props.face}
        <Heading className="min-w-0 truncate text-[15px] font-semibold">{name || `New ${noun}`}</Heading>
        {props.badges}
        <span className="flex-1" />
        {draft.isChanged && !isNew ? (
          <Button variant="ghost" onClick={onDiscard} className="max-sm:hidden">
            Discard
          </Button>
        ) : null}
        {isReadOnly ? null : (
          <Button type="submit" variant="primary" pending={isSaving} disabled={mayNotSave}>
            {isNew ? `Create ${noun}` : "Save"}
          </Button>
        )}
        {props.menu}
        {sheet ? (
          <IconButton plain label="Close" icon={<X aria-hidden="true" />} onClick={sheet.close} />
        ) : null}
      </header>
      {props.notice}
      {draft.theirs ? <Conflict noun={noun} draft={draft} onSubmit={onSubmit} /> : null}
      <div className="min-h-0 flex-1 overflow-y-auto">{props.children}</div>
      <UnsavedGuard
        active={draft.isChanged && !draft.isLeaving && !isSaving}
        what={name ? `“${name}”` : `the new ${noun}`}
        onDiscard={draft.leave}
      />
    </form>
  );
}

/** Somebody else saved it meanwhile: either version can win. */
export function Conflict<T>({
  noun,
  draft,
  onSubmit,
}: Pick<LibraryEditorProps<T>, "noun" | "draft" | "onSubmit">) {
  const { theirs, takeTheirs } = draft;
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 border-b border-line bg-waiting/10 px-4 py-3 text-sm sm:px-6"
    >
      <TriangleAlert aria-hidden="true" className="size-4 text-waiting" />
      <p className="min-w-0 flex-1 basis-48">
        {`This ${noun} was changed in another place. Nothing of yours was saved yet.`}
      </p>
      <Button size="sm" onClick={takeTheirs}>
        Load the other version
      </Button>
      <Button size="sm" onClick={() => (theirs ? onSubmit(theirs.revision) : undefined)}>
        Save mine over it
      </Button>
    </div>
  );
}
