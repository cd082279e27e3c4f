/** Asked before the page is left; calls `go` once the person agrees. */
type LeaveGuard = (go: () => void) => void;

let guard: LeaveGuard | null = null;

/** A page with something to lose sets its guard, and takes it away when nothing is at stake any more. */
export function setLeaveGuard(next: LeaveGuard | null) {
  guard = next;
}

/** Goes somewhere else, or asks first where that would lose something. */
export function leaveTo(go: () => void) {
  if (guard) guard(go);
  else go();
}
