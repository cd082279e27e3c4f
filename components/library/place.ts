import { useRouter } from "next/navigation";
import { createContext, useContext } from "react";
import { leaveTo } from "@/components/page/leaving";

/** Where an editor of the library stands: on its page, or in a sheet over another one. */
export interface EditorPlace {
  /** In a sheet there is no menu: what it was opened for is still waiting. */
  isSheet: boolean;
  /** It was saved under this name or id. */
  saved(id: string): void;
  /** Shows another one, such as a copy. */
  show(id: string): void;
  /** Goes away, or asks first where something would be lost. */
  close(): void;
}

export const SheetContext = createContext<EditorPlace | null>(null);

/** `href`: the page of all of its kind, which names the one that is open by `param`. */
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
