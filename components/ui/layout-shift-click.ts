/** How many pixels a pointer may move between press and release and still count as a click. */
const SLIP = 4;
const CONTROLS = "button, a[href], [role^='menuitem']";

/**
 * Counts a press as a click even if the control moves away from under the pointer: blurring a field can show or remove a
 * message above the control before the release, a part of the page above an open menu can load, and the browser then fires
 * no click on the control. Returns a function that stops it.
 */
export function countLayoutShiftClicks(): () => void {
  let pressed: { control: HTMLElement; at: DOMRect; x: number; y: number } | null = null;
  const onPress = ({ target, button, clientX: x, clientY: y }: PointerEvent) => {
    const control = button === 0 && target instanceof Element ? target.closest<HTMLElement>(CONTROLS) : null;
    pressed = control && { control, at: control.getBoundingClientRect(), x, y };
  };
  const onRelease = ({ target, clientX, clientY }: PointerEvent) => {
    const press = pressed;
    pressed = null;
    if (!press?.control.isConnected || (target instanceof Node && press.control.contains(target))) return;
    const { control, at, x, y } = press;
    const now = control.getBoundingClientRect();
    const isMoved = now.top !== at.top || now.left !== at.left;
    // After the browser's own click, which goes to the common ancestor and may close what this click opens.
    if (isMoved && Math.hypot(clientX - x, clientY - y) <= SLIP) setTimeout(() => control.click());
  };
  document.addEventListener("pointerdown", onPress, true);
  document.addEventListener("pointerup", onRelease, true);
  return () => {
    document.removeEventListener("pointerdown", onPress, true);
    document.removeEventListener("pointerup", onRelease, true);
  };
}
