import type { XY } from "./layout/places";

/** The node whose card an element belongs to. */
export function nodeIdOf(target: EventTarget | null): string | null {
  const card = target instanceof Element ? target.closest<HTMLElement>("[data-node]") : null;
  return card?.dataset.node ?? null;
}

/** The first element of a canvas that a selector finds, outside of the canvases within its cards. */
export function elementOf(canvas: Element | null, selector: string): HTMLElement | null {
  const found = [...(canvas?.querySelectorAll<HTMLElement>(selector) ?? [])];
  return found.find((element) => element.closest(".react-flow") === canvas) ?? null;
}

/** The node whose card lies at a point of the screen. */
export const nodeIdAt = ({ x, y }: XY) => nodeIdOf(document.elementFromPoint(x, y));

/** The line at a point of the screen, also under what is being dragged. */
export function edgeIdAt({ x, y }: XY): string | null {
  for (const element of document.elementsFromPoint(x, y)) {
    const edge = element.closest<HTMLElement>(".react-flow__edge");
    if (edge) return edge.dataset.id ?? null;
  }
  return null;
}

/** The line that passes between a point on the screen and a lower one. */
export function edgeIdBetween({ x, y: top }: XY, bottom: number): string | null {
  for (let y = top + 2; y < bottom; y += 8) {
    const found = edgeIdAt({ x, y });
    if (found) return found;
  }
  return null;
}

/** Where a pointer is, of a mouse or a finger that was lifted. */
export function pointOf(event: MouseEvent | TouchEvent): XY | null {
  if ("clientX" in event) return { x: event.clientX, y: event.clientY };
  const touch = event.changedTouches[0];
  return touch ? { x: touch.clientX, y: touch.clientY } : null;
}

/** Whether it is empty canvas. */
export const isPane = (target: EventTarget) =>
  target instanceof Element && target.classList.contains("react-flow__pane");

/** Whether what it belongs to lies over the page, such as a dialog or a menu. */
export const isInDialog = (target: EventTarget | null) =>
  target instanceof Element &&
  !!target.closest("[role=dialog], [role=alertdialog], [role=menu], [role=listbox]");
