"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { LibrarySheetsContext, type SheetRequest } from "@/components/forms/library-sheets";
import { leaveTo } from "@/components/page/leaving";
import { type EditorPlace, SheetContext } from "./place";

const Sheet = dynamic(() => import("@/components/ui/overlay/sheet").then((m) => m.Sheet), { ssr: false });
const SheetEditor = dynamic(() => import("./sheet-editor").then((m) => m.SheetEditor), { ssr: false });

/** Lets its children open a role, agent or crew in a sheet, even from another sheet. */
export function LibrarySheets({ children }: { children: ReactNode }) {
  const [request, setRequest] = useState<SheetRequest | null>(null);
  const returnTo = useRef<HTMLElement | null>(null);
  const [open] = useState(() => (next: SheetRequest) => {
    returnTo.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    setRequest(next);
  });
  const place = useMemo<EditorPlace>(
    () => ({
      isSheet: true,
      saved: (id) => {
        setRequest(null);
        request?.onSaved?.(id);
      },
      show: () => undefined,
      close: () => leaveTo(() => setRequest(null)),
    }),
    [request],
  );
  return (
    <>
      <LibrarySheetsContext.Provider value={open}>{children}</LibrarySheetsContext.Provider>
      {request ? (
        <Sheet
          open
          label={request.id === null ? `New ${request.kind}` : `Edit ${request.kind}`}
          returnTo={returnTo}
          onClose={place.close}
        >
          <SheetContext.Provider value={place}>
            {/* A role that an agent needs is made in a sheet over the agent's. */}
            <LibrarySheets>
              <SheetEditor key={`${request.kind} ${request.id}`} {...request} />
            </LibrarySheets>
          </SheetContext.Provider>
        </Sheet>
      ) : null}
    </>
  );
}
