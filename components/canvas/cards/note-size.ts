import { defined } from "@/server/domain/base/defined";
import { recordOf } from "@/server/domain/base/guards";
import type { WorkflowNode } from "@/server/domain/graph/graph";

/** The sizes that a note can have, in canvas coordinates. */
export const NOTE_LEAST = { width: 160, height: 80 };
export const NOTE_MOST = { width: 960, height: 960 };

/** A size as it is kept: on the grid, and within what a note can be. */
export function noteSize({ width, height }: { width: number; height: number }) {
  const fit = (value: number, least: number, most: number) =>
    Math.min(most, Math.max(least, Math.round(value / 8) * 8));
  return {
    width: fit(width, NOTE_LEAST.width, NOTE_MOST.width),
    height: fit(height, NOTE_LEAST.height, NOTE_MOST.height),
  };
}

/** The size of a note; a missing one follows from its text. */
export function sizeOfNote(node: WorkflowNode): { width?: number; height?: number } {
  const { width, height } = recordOf(node.ui);
  return {
    ...defined({
      width: typeof width === "number" ? width : undefined,
      height: typeof height === "number" ? height : undefined,
    }),
  };
}
