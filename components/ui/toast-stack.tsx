"use client";

import { CircleCheck, Info, TriangleAlert } from "lucide-react";
import { useEffect } from "react";
import { Toaster as Base, toast as show } from "sonner";

export interface ToastOptions {
  /** Adds an undo button. */
  undo?: (() => void) | undefined;
  /** Adds another action. */
  action?: { label: string; onSelect: () => void };
  /** A second line. */
  detail?: string | undefined;
  tone?: "plain" | "success" | "error" | undefined;
  /** Replaces an earlier toast with the same id. */
  id?: string | undefined;
}

export type ShowToast = (message: string, options: ToastOptions) => void;

const showToast: ShowToast = (message, { undo, action, detail, tone = "plain", id }) => {
  const button = undo
    ? { label: "Undo", onClick: undo }
    : action
      ? { label: action.label, onClick: action.onSelect }
      : undefined;
  const one = tone === "error" ? show.error : tone === "success" ? show.success : show;
  one(message, {
    ...(id === undefined ? {} : { id }),
    ...(detail === undefined ? {} : { description: detail }),
    ...(button ? { action: button } : {}),
    // Long enough to act, or to read the details.
    duration: undo || detail || tone === "error" ? 8000 : 4000,
  });
};

/** The stack of toasts; `onReady` tells when it accepts them. */
export default function ToastStack({ onReady }: { onReady: (showToast: ShowToast) => void }) {
  useEffect(() => onReady(showToast), [onReady]);
  return (
    <Base
      position="bottom-right"
      mobileOffset={{ bottom: 72 }}
      gap={8}
      icons={{
        success: <CircleCheck className="size-4 text-completed" />,
        error: <TriangleAlert className="size-4 text-failed" />,
        info: <Info className="size-4 text-ink-2" />,
      }}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast:
            "flex w-full items-center gap-3 rounded-xl border border-line bg-raised px-4 py-3 font-sans text-sm text-ink shadow-2 sm:w-88",
          content: "min-w-0 flex-1",
          title: "font-medium",
          description: "mt-0.5 text-[13px] text-ink-2",
          actionButton:
            "shrink-0 rounded-md border border-line-strong px-2.5 py-1 text-[13px] font-medium hover:bg-sunken",
        },
      }}
    />
  );
}
