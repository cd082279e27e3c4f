import { textHash } from "@/server/domain/text/text-hash";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH = 20;

/**
 * The id of a run that a node starts, as `newId` makes them, but the same each time for the same place in the same run: a
 * repeated step finds the run that it had started.
 */
export function childId(parentId: string, place: string): string {
  let id = "";
  for (let part = 0; id.length < LENGTH; part++) {
    let hash = textHash(`${part}/${parentId}/${place}`);
    for (let k = 0; k < 10; k++) {
      id += ALPHABET[hash % 32];
      hash = Math.floor(hash / 32);
    }
  }
  return `run_${id}`;
}

/** The id of a fork's own copy of a run that its original had started and that was still going on. */
export const forkedChildId = (parentId: string, runId: string): string => childId(parentId, runId);
