import type { NodeType } from "@/server/domain/nodes";

/** A new node as the palette and the picker offer it. */
export interface Choice {
  type: NodeType;
  config?: Record<string, unknown> | undefined;
  name?: string | undefined;
}

/** What the palette writes into a drag. */
export const writeChoice = (choice: Choice): string => JSON.stringify(choice);
