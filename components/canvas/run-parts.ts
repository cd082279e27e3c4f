import { StatusMark } from "@/components/display/status-mark";
import type { RunParts } from "./canvas-run-context";
import { RunSlip } from "./run-slip";

/** How a run is told on cards. */
export const runParts: RunParts = { Slip: RunSlip, Status: StatusMark };
