import { useSyncExternalStore } from "react";
import { useEditor } from "./editor-store";
import { useUi } from "./ui-store";

/** Whether the inspector is to be seen: asked for, or, where there is room, because something is selected. */
export function useIsInspectorShown(): boolean {
  const isOpen = useUi((ui) => ui.isInspectorOpen);
  const isWide = useIsWide();
  const hasSelection = useEditor(({ selection }) => selection.nodes.size + selection.edges.size > 0);
  return isOpen || (isWide && hasSelection);
}

const wide = "(min-width: 900px)";
const useIsWide = () =>
  useSyncExternalStore(
    (listener) => {
      const query = matchMedia(wide);
      query.addEventListener("change", listener);
      return () => query.removeEventListener("change", listener);
    },
    () => matchMedia(wide).matches,
    () => true,
  );
