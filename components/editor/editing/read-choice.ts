import { defined } from "@/server/domain/base/defined";
import { isObject, isText } from "@/server/domain/base/guards";
import { findNodeKind } from "@/server/domain/nodes";
import { newConfigOf } from "@/server/domain/nodes/new-node";
import { configSchema } from "@/server/domain/nodes/schemas";
import type { Choice } from "./choice";
import { parseJson } from "./fragment";

/** Reads what was dropped; null if it isn't from the palette. A drag can come from any page. */
export function readChoice(payload: string): Choice | null {
  const value = parseJson(payload);
  const kind = isObject(value) && isText(value.type) ? findNodeKind(value.type) : undefined;
  if (!kind || !isObject(value)) return null;
  const config = configSchema(kind.type).safeParse({
    ...newConfigOf(kind.type),
    ...(isObject(value.config) ? value.config : {}),
  });
  if (!config.success || !isObject(config.data)) return null;
  return {
    type: kind.type,
    config: config.data,
    ...defined({ name: isText(value.name) ? value.name.slice(0, 200) : undefined }),
  };
}
