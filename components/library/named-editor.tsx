"use client";

import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { toApiError } from "@/components/trpc";
import { TextField } from "@/components/ui/text-field";
import { toast } from "@/components/ui/toasts";
import type { Use } from "@/server/domain/library/uses";
import { LibraryEditor } from "./library-editor";
import { LibraryMenu } from "./library-menu";
import { useEditorPlace } from "./place";
import { useDraft } from "./use-draft";
import { UsesList } from "./uses-list";

/** What is written of a thing of the library that has an id of its own beside its name. */
export interface Named<C> {
  name: string;
  content: C;
}
export interface SavedThing<C> extends Named<C> {
  id: string;
  revision: number;
  used_by: readonly Use[];
}

/** What the server does with things of one kind. */
export interface LibraryCalls<C> {
  create(thing: Named<C>): Promise<{ id: string }>;
  save(thing: Named<C> & { id: string; revision: number }): Promise<{ revision: number }>;
  duplicate(id: string): Promise<{ id: string }>;
  restore(thing: Named<C>): Promise<unknown>;
  remove(id: string, force: boolean): Promise<unknown>;
  file(id: string, format: "yaml" | "json"): Promise<{ file_name: string; text: string }>;
  /** Lists that show it are asked for again. */
  refresh(): Promise<unknown>;
  /** What a refused save tells of the version that stands there now; null where it tells of none. */
  theirs(detail: unknown): (Named<C> & { revision: number }) | null;
}

/** `C` is what is saved; `Draft` is what it may be while it is written. */
export interface NamedEditorProps<Draft, C extends Draft> {
  noun: "agent" | "crew";
  saved: SavedThing<C> | null;
  /** What a new one begins with. */
  initial: Named<Draft>;
  calls: LibraryCalls<C>;
  /** As it is sent, and as the server will read it; null: it cannot be saved as it is. */
  tidy: (content: Draft) => C | null;
  placeholder: string;
  /** What is said where nobody uses it. */
  nobody: string;
  /** What becomes of those who use it when it is deleted. */
  loss: string;
  children: (form: { content: Draft; set: (content: Draft) => void; wasTried: boolean }) => ReactNode;
}

/** An agent or a crew of the library: its name and its form. Mount it with a key of its id. */
export function NamedEditor<Draft, C extends Draft>(props: NamedEditorProps<Draft, C>) {
  const { noun, saved, initial, calls, tidy } = props;
  const place = useEditorPlace(`/${noun}s`, noun);
  const draft = useDraft<Named<Draft>>(
    saved && { content: { name: saved.name, content: saved.content }, revision: saved.revision },
    initial,
  );
  const { name, content } = draft.content;
  const [wasTried, setTried] = useState(false);
  const create = useMutation({
    mutationFn: calls.create,
    onSuccess: ({ id }, { name: created }) => {
      draft.leave();
      void calls.refresh();
      toast(`Created “${created}”`, { tone: "success" });
      place.saved(id);
    },
  });
  const save = useMutation({
    mutationFn: calls.save,
    onSuccess: ({ revision }, { id, name: written, content: sent }) => {
      draft.onSaved({ content: { name: written, content: sent }, revision });
      setTried(false);
      void calls.refresh();
      toast(`Saved “${written}”`, { tone: "success" });
      if (place.isSheet) place.saved(id);
    },
    onError: (error) => {
      const { code, message, detail } = toApiError(error);
      const theirs = code === "CONFLICT" ? calls.theirs(detail) : null;
      if (!theirs) return toast(message, { tone: "error" });
      const { revision, ...other } = theirs;
      draft.onConflict({ content: other, revision });
    },
  });
  const submit = (revision: number) => {
    setTried(true);
    const tidied = tidy(content);
    if (name.trim() === "" || tidied === null) return;
    const next = { name: name.trim(), content: tidied };
    draft.set(next);
    if (saved) save.mutate({ id: saved.id, revision, ...next });
    else create.mutate(next);
  };
  return (
    <LibraryEditor
      noun={noun}
      savedName={saved?.name ?? null}
      name={name}
      draft={draft}
      isSaving={create.isPending || save.isPending}
      onSubmit={submit}
      onDiscard={() => {
        draft.discard();
        setTried(false);
      }}
      badges={
        saved ? <code className="truncate font-mono text-xs text-ink-3 max-sm:hidden">{saved.id}</code> : null
      }
      menu={
        saved && !place.isSheet ? (
          <NamedMenu noun={noun} saved={saved} calls={calls} loss={props.loss} onLeave={draft.leave} />
        ) : null
      }
    >
      <div key={draft.generation} className="@container flex max-w-2xl flex-col gap-5 px-4 py-6 sm:px-6">
        <TextField
          label="Name"
          value={name}
          onValueChange={(next) => draft.set((before) => ({ ...before, name: next }))}
          maxLength={200}
          placeholder={props.placeholder}
          error={wasTried && name.trim() === "" ? "Give it a name." : undefined}
        />
        {props.children({
          content,
          set: (next) => draft.set((before) => ({ ...before, content: next })),
          wasTried,
        })}
        {saved ? (
          <div className="border-t border-line pt-5">
            <UsesList uses={saved.used_by} nobody={props.nobody} />
          </div>
        ) : null}
      </div>
    </LibraryEditor>
  );
}

interface NamedMenuProps<C> {
  noun: "agent" | "crew";
  saved: SavedThing<C>;
  calls: LibraryCalls<C>;
  loss: string;
  onLeave: () => void;
}

function NamedMenu<C>({ noun, saved, calls, loss, onLeave }: NamedMenuProps<C>) {
  const place = useEditorPlace(`/${noun}s`, noun);
  const { id, name, content, used_by } = saved;
  const duplicate = useMutation({
    mutationFn: calls.duplicate,
    onSuccess: async (copy) => {
      await calls.refresh();
      place.show(copy.id);
    },
  });
  const restore = useMutation({ mutationFn: calls.restore, onSettled: calls.refresh });
  const remove = useMutation({
    mutationFn: (force: boolean) => calls.remove(id, force),
    onSuccess: () => {
      onLeave();
      place.close();
      void calls.refresh();
      toast(`Deleted “${name}”`, { undo: () => restore.mutate({ name, content }) });
    },
  });
  return (
    <LibraryMenu
      noun={noun}
      name={name}
      uses={used_by}
      loss={loss}
      onDuplicate={() => duplicate.mutate(id)}
      file={(format) => calls.file(id, format)}
      onDelete={(force) => remove.mutateAsync(force)}
    />
  );
}
