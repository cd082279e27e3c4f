/** How far a pointer may slip between press and release, in pixels, and still mean the same place. */
const SLIP = 4;

/**
 * Lets a press count when the control moves from under a pointer that stays where it is: leaving a field can show or
 * remove a message above it before the release, and the browser then reports no click on it. Returns how to stop.
 */
export function countMovedPresses(): () => void {
  let pressed: { control: HTMLElement; at: DOMRect; x: number; y: number } | null = null;
  const onPress = ({ target, button, clientX: x, clientY: y }: PointerEvent) => {
    const control =
      button === 0 && target instanceof Element ? target.closest<HTMLElement>("button, a[href]") : null;
    pressed = control && { control, at: control.getBoundingClientRect(), x, y };
  };
  const onRelease = ({ target, clientX, clientY }: PointerEvent) => {
    const press = pressed;
    pressed = null;
    if (!press?.control.isConnected || (target instanceof Node && press.control.contains(target))) return;
    const { control, at, x, y } = press;
    const now = control.getBoundingClientRect();
    const isMoved = now.top !== at.top || now.left !== at.left;
    // After the browser's own click, which goes to what both places share and may close what this one opens.
    if (isMoved && Math.hypot(clientX - x, clientY - y) <= SLIP) setTimeout(() => control.click());
  };
  document.addEventListener("pointerdown", onPress, true);
  document.addEventListener("pointerup", onRelease, true);
  return () => {
    document.removeEventListener("pointerdown", onPress, true);
    document.removeEventListener("pointerup", onRelease, true);
  };
}
