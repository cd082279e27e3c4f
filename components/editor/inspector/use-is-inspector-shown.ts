import { useMedia } from "@/components/ui/use-media";
import { useEditor } from "../editing/editor-store";
import { useUi } from "../ui-store";

/** Whether the inspector is shown: on request or, if there is room, for a selection. */
export function useIsInspectorShown(): boolean {
  const isOpen = useUi((ui) => ui.isInspectorOpen);
  const isWide = useMedia(WIDE, true);
  const hasSelection = useEditor(({ selection }) => selection.nodes.size + selection.edges.size > 0);
  return isOpen || (isWide && hasSelection);
}

const WIDE = "(min-width: 900px)";
