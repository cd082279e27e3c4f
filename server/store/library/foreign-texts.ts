import { z } from "zod";
import type { Db } from "@/db/open";
import { textsIn } from "@/server/domain/base/json";
import { textHash } from "@/server/domain/text/text-hash";
import { newSettingStore } from "../settings";

const KEY = "texts.foreign";
const Hashes = z.array(z.number());

/** Which texts came with files. A text that a person has edited is another one, and theirs. */
export interface ForeignTexts {
  add(texts: readonly string[]): void;
  /** Those texts in a value that came with files; each once. */
  among(value: unknown): string[];
}

export function newForeignTexts(db: Db): ForeignTexts {
  const settings = newSettingStore(db);
  const read = () => {
    const value = settings.find(KEY);
    return new Set(value === undefined ? [] : Hashes.parse(JSON.parse(value)));
  };
  return {
    add(texts) {
      settings.set(KEY, JSON.stringify([...new Set([...read(), ...texts.map(textHash)])]));
    },
    among(value) {
      const hashes = read();
      if (hashes.size === 0) return [];
      return [...new Set(textsIn(value))].filter((text) => hashes.has(textHash(text)));
    },
  };
}
