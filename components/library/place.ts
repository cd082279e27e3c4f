import { useRouter } from "next/navigation";
import { createContext, useContext } from "react";
import { leaveTo } from "@/components/page/leaving";

/** The place of a library editor: its page, or a sheet over another page. */
export interface EditorPlace {
  /** Sheets have no menu, because the form that opened them still waits. */
  isSheet: boolean;
  /** Called with the name or id under which it was saved. */
  saved(id: string): void;
  /** Shows another item, such as a copy. */
  show(id: string): void;
  /** Closes the editor, after asking if changes would be lost. */
  close(): void;
}

export const SheetContext = createContext<EditorPlace | null>(null);

/** `href`: the page of all items, where the query parameter `param` names the open one. */
export function useEditorPlace(href: string, param: string): EditorPlace {
  const router = useRouter();
  const sheet = useContext(SheetContext);
  const address = (id: string) => `${href}?${param}=${encodeURIComponent(id)}`;
  return (
    sheet ?? {
      isSheet: false,
      saved: (id) => router.replace(address(id)),
      show: (id) => leaveTo(() => router.push(address(id))),
      close: () => router.replace(href),
    }
  );
}
