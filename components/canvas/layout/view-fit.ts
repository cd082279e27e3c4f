import type { XY } from "./places";

export const MIN_ZOOM = 0.1;
/** Graphs with fewer nodes need no minimap. */
export const MINIMAP_FROM = 12;
/** Never zoom in beyond the original size. */
export const MAX_FIT = 1;
/** The smallest zoom at which a card can be read: its 13 pixels are 11 then. */
export const READABLE = 0.85;
/** A graph that fits into the window at this zoom or more opens fitted. */
export const SMALLEST_WHOLE = 0.7;

/** The smallest zoom at which names are readable, and the smallest at which a narrow window opens a graph. */
const SMALLEST_NAMES = 0.25;
/** A narrower window hardly fits two readable cards next to each other, so an overview is more useful. */
export const NARROW = 540;

export interface Area extends XY {
  width: number;
  height: number;
}

/** The bounding box of an area and these points. */
export function areaWith({ x, y, width, height }: Area, points: readonly XY[]): Area {
  let [left, top, right, bottom] = [x, y, x + width, y + height];
  for (const point of points) {
    left = Math.min(left, point.x);
    top = Math.min(top, point.y);
    right = Math.max(right, point.x);
    bottom = Math.max(bottom, point.y);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Pan, in pixels of the window, and zoom. */
export interface View extends XY {
  zoom: number;
}

/** The usable part of the viewport. */
export interface Room {
  left: number;
  top: number;
  width: number;
  height: number;
}

/**
 * Estimates how many cards are in view. Assumes that they are spread evenly, so that panning does not change the
 * result.
 */
export const cardsInView = (
  drawing: { count: number; width: number; height: number },
  room: Pick<Room, "width" | "height">,
  zoom: number,
) =>
  drawing.count *
  Math.min(1, room.width / zoom / drawing.width) *
  Math.min(1, room.height / zoom / drawing.height);

const zoomToFit = (area: Area, room: Room) => Math.min(room.width / area.width, room.height / area.height);

/**
 * The view in which a graph is readable: all of it, centered, if that is not too small; otherwise its beginning, moved
 * only as far as needed to show `card`.
 */
export function readableView(drawing: Area, room: Room, card: Area): View {
  const fits = zoomToFit(drawing, room);
  const isNarrow = room.width < NARROW;
  const zoom = isNarrow ? Math.max(SMALLEST_NAMES, fits) : fits >= SMALLEST_WHOLE ? fits : READABLE;
  return viewAt(Math.min(MAX_FIT, zoom), { drawing, room, card });
}

/** The view that shows all of an area. */
export const wholeView = (area: Area, room: Room): View =>
  viewAt(Math.max(MIN_ZOOM, Math.min(MAX_FIT, zoomToFit(area, room))), { drawing: area, room, card: area });

/**
 * The view that shows cards together with what is around them, moved and then zoomed out as little as possible; if that
 * were too small, the cards alone. Null: nothing has to move, or nothing would help.
 */
export function besideView(now: View, room: Room, around: Area, cards: Area | null): View | null {
  const fits = zoomToFit(around, room);
  const isRoomy = fits >= Math.min(now.zoom, SMALLEST_WHOLE);
  const area = isRoomy ? around : cards;
  if (!area) return null;
  const zoom = isRoomy ? Math.min(now.zoom, fits) : now.zoom;
  const next = { zoom, ...movedInto(now, zoom, room, { area, part: area }) };
  return isSameView(next, now) ? null : next;
}

export const isSameView = (a: View, b: View) =>
  Math.abs(a.x - b.x) < 1 && Math.abs(a.y - b.y) < 1 && Math.abs(a.zoom - b.zoom) < 0.001;

/** A card, the graph around it, and the room to show them. */
interface Scene {
  drawing: Area;
  room: Room;
  card: Area;
}

/** One direction of an area. */
interface Span {
  start: number;
  size: number;
}

const across = ({ x, width }: Area): Span => ({ start: x, size: width });
const down = ({ y, height }: Area): Span => ({ start: y, size: height });
const acrossRoom = ({ left, width }: Room): Span => ({ start: left, size: width });
const downRoom = ({ top, height }: Room): Span => ({ start: top, size: height });

/**
 * The view of a card at a zoom: the whole graph centered if it fits; otherwise the card centered, but never beyond the
 * edges of the graph, so that no space is left empty. An axis on which `now` already shows the whole card at this zoom
 * doesn't move.
 */
export function viewAt(zoom: number, { drawing, room, card }: Scene, now?: View): View {
  const pan = (moved: number | undefined, [whole, place, shown]: [Span, Span, Span]) => {
    if (moved !== undefined && now?.zoom === zoom) {
      const first = shown.start * zoom + moved;
      if (first >= place.start && first + shown.size * zoom <= place.start + place.size) return moved;
    }
    return place.start + along(whole, place.size, shown, zoom);
  };
  return {
    x: pan(now?.x, [across(drawing), acrossRoom(room), across(card)]),
    y: pan(now?.y, [down(drawing), downRoom(room), down(card)]),
    zoom,
  };
}

/** The offset on one axis. */
function along(drawing: Span, room: number, card: Span, zoom: number): number {
  if (drawing.size * zoom <= room) return (room - drawing.size * zoom) / 2 - drawing.start * zoom;
  const fromStart = -drawing.start * zoom;
  if ((card.start + card.size - drawing.start) * zoom <= room) return fromStart;
  const centered = room / 2 - (card.start + card.size / 2) * zoom;
  const fromEnd = room - (drawing.start + drawing.size) * zoom;
  return Math.min(fromStart, Math.max(fromEnd, centered));
}

/**
 * The view that shows a card, moved as little as possible: all of it if it fits at a readable size; else the part that
 * matters, as close to its start as possible.
 */
export function cardView(now: View, room: Room, card: Area, part: Area): View {
  const fits = zoomToFit(card, room);
  const zoom = Math.max(READABLE, Math.min(MAX_FIT, Math.max(now.zoom, READABLE), fits));
  return { zoom, ...movedInto(now, zoom, room, { area: card, part }) };
}

/** The smallest pan that shows all of an area at this zoom, or `part` of it if there is no room for all. */
function movedInto(now: View, zoom: number, room: Room, { area, part }: { area: Area; part: Area }): XY {
  const move = (seen: number, place: Span, whole: Span, shown: Span) =>
    whole.size * zoom > place.size + 0.5
      ? place.start + along(whole, place.size, shown, zoom)
      : Math.min(
          Math.max(whole.start * now.zoom + seen, place.start),
          place.start + place.size - whole.size * zoom,
        ) -
        whole.start * zoom;
  return {
    x: move(now.x, acrossRoom(room), across(area), across(part)),
    y: move(now.y, downRoom(room), down(area), down(part)),
  };
}
