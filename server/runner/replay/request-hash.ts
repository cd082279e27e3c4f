import { createHash } from "node:crypto";
import type { StepRequest } from "@/server/domain/base/durable";
import { canonicalJson } from "@/server/domain/base/json";

/** SHA-256 of a request in canonical JSON, hex: the same whatever the order of its keys. */
export const requestHash = ({ kind, asked }: Pick<StepRequest, "kind" | "asked">): string =>
  createHash("sha256")
    .update(canonicalJson({ kind, asked: asked() }))
    .digest("hex");
