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

/** Asked when the tab has gone a step back or forward; true keeps the page that is shown. */
type StepGuard = () => boolean;

let stepGuard: StepGuard | null = null;

/** Like setLeaveGuard, for steps in the tab's history: those have already happened when they are told. */
export function setStepGuard(next: StepGuard | null) {
  stepGuard = next;
}

/** Lets the guard hear of steps before the router does; to be called before the router wakes up. */
export function watchSteps() {
  window.addEventListener("popstate", (event) => {
    if (stepGuard?.()) event.stopImmediatePropagation();
  });
}
