import { parentPort } from "node:worker_threads";
import { errorMessage } from "@/server/domain/base/guards";
import { Rejection } from "@/server/domain/errors/rejection";
import { unpack } from "./archive";
import type { ReadingAnswer, ReadingJob } from "./off-thread";
import { readImport } from "./pipeline";

/** What the thread does: reads one import after another (off-thread.ts). */
function answerTo({ sent, choices }: ReadingJob): ReadingAnswer {
  try {
    return { read: readImport(unpack(sent), choices) };
  } catch (error) {
    if (error instanceof Rejection) return { rejected: error.message };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : errorMessage(error) };
  }
}

parentPort?.on("message", (job: ReadingJob) => parentPort?.postMessage(answerTo(job)));
parentPort?.postMessage("ready");
