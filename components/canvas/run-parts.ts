import { StatusMark } from "@/components/display/status-mark";
import type { RunParts } from "./canvas-run-context";
import { RunCaption } from "./cards/run-caption";

/** How a run is shown on cards. */
export const runParts: RunParts = { Slip: RunCaption, Status: StatusMark };
