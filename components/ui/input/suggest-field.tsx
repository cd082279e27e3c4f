"use client";

import { Autocomplete as Base } from "@base-ui/react/autocomplete";
import clsx from "clsx";
import { type KeyboardEvent, useState } from "react";
import { OVER_THE_PAGE } from "./choice-list";
import { Field, type FieldLabelProps } from "./field";

export interface Suggestion {
  value: string;
  /** Muted text beside it. */
  detail?: string | undefined;
}

export interface SuggestFieldProps extends FieldLabelProps {
  value: string;
  onValueChange: (value: string) => void;
  suggestions: readonly Suggestion[];
  placeholder?: string | undefined;
  mono?: boolean | undefined;
  maxLength?: number | undefined;
  onBlur?: (() => void) | undefined;
  onKeyDown?: ((event: KeyboardEvent<HTMLInputElement>) => void) | undefined;
  fieldClassName?: string | undefined;
}

/** A text field with a list of suggestions that opens on focus and filters while typing. */
export function SuggestField({
  value,
  onValueChange,
  suggestions,
  placeholder,
  mono,
  maxLength,
  onBlur,
  onKeyDown,
  fieldClassName,
  ...labelProps
}: SuggestFieldProps) {
  // The initial text is no search; only typed text is.
  const [isSearching, setSearching] = useState(false);
  const wanted = value.trim().toLowerCase();
  const shown = isSearching
    ? suggestions.filter((row) => row.value !== value && row.value.toLowerCase().includes(wanted))
    : suggestions;
  const [isOpen, setOpen] = useState(false);
  // An exact match has nothing left to suggest, so the list must not cover the page.
  const isShown = isOpen && shown.length > 0;
  return (
    <Field {...labelProps} className={fieldClassName}>
      {(control) => (
        <Base.Root
          items={shown}
          filteredItems={shown}
          itemToStringValue={(row: Suggestion) => row.value}
          value={value}
          onValueChange={(next, { reason }) => {
            setSearching(reason === "input-change");
            onValueChange(next);
          }}
          open={isShown}
          onOpenChange={(next) => {
            setOpen(next);
            if (!next) setSearching(false);
          }}
          openOnInputClick
          // Enter picks the first match, unless the field is empty.
          autoHighlight
        >
          <Base.Input
            {...control}
            placeholder={placeholder}
            maxLength={maxLength}
            onBlur={onBlur}
            onKeyDown={(event) => {
              // With no list to close, leave Escape to the page, and keep the text.
              if (event.key === "Escape" && !isShown) event.preventBaseUIHandler();
              onKeyDown?.(event);
            }}
            spellCheck={false}
            className={clsx("control h-8 px-2.5 pointer-coarse:h-10", mono && "font-mono text-[13px]")}
          />
          <Base.Portal>
            <Base.Positioner {...OVER_THE_PAGE}>
              <Base.Popup className="popup max-h-[min(var(--available-height),18rem)] w-max max-w-(--available-width) min-w-(--anchor-width) overflow-y-auto p-1 outline-none data-empty:hidden">
                <Base.List aria-label={`Suggestions for ${labelProps.label}`}>
                  {(row: Suggestion) => <SuggestionView key={row.value} row={row} isMono={mono} />}
                </Base.List>
              </Base.Popup>
            </Base.Positioner>
          </Base.Portal>
        </Base.Root>
      )}
    </Field>
  );
}

function SuggestionView({ row, isMono }: { row: Suggestion; isMono: boolean | undefined }) {
  return (
    <Base.Item
      value={row}
      className={clsx(
        "flex cursor-default items-baseline gap-3 rounded-md px-2 py-1 text-[13px] outline-none data-[highlighted]:bg-ink/6 pointer-coarse:py-2.5",
        isMono && "font-mono",
      )}
    >
      {row.value}
      {row.detail ? <span className="ml-auto font-sans text-xs text-ink-3">{row.detail}</span> : null}
    </Base.Item>
  );
}
