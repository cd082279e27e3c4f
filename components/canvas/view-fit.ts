import type { XY } from "./places";

/** Nothing is made larger than it was drawn. */
export const MAX_FIT = 1;
/** The smallest zoom at which a card can be read: its 13 pixels are 11 then. */
export const READABLE = 0.85;

interface Area extends XY {
  width: number;
  height: number;
}

/** What may be used of the place where the drawing is seen. */
export interface Room {
  left: number;
  top: number;
  width: number;
  height: number;
}

/**
 * Where to look from so that a drawing can be read: all of it in the middle where it fits at a readable size; else from
 * its beginning, moved on only as far as the card that matters has to be seen.
 */
export function readableView(drawing: Area, room: Room, card: Area): XY & { zoom: number } {
  const fits = Math.min(room.width / drawing.width, room.height / drawing.height);
  return viewAt(Math.min(MAX_FIT, Math.max(READABLE, fits)), drawing, room, card);
}

/**
 * Where to look from to see a card at a zoom: the whole drawing in the middle where it fits; else the card in the middle,
 * unless the drawing's beginning or end is nearer than that, so that no room is left empty. `now`: where one looks from
 * now; in a direction in which all of the card is seen from there at this zoom, that stays.
 */
export function viewAt(
  zoom: number,
  drawing: Area,
  room: Room,
  card: Area,
  now?: XY & { zoom: number },
): XY & { zoom: number } {
  const isSeen = (at: number, size: number, moved: number, first: number, length: number) =>
    at * zoom + moved >= first && (at + size) * zoom + moved <= first + length;
  const staysX = now?.zoom === zoom && isSeen(card.x, card.width, now.x, room.left, room.width);
  const staysY = now?.zoom === zoom && isSeen(card.y, card.height, now.y, room.top, room.height);
  return {
    x: staysX ? now.x : room.left + along(drawing.x, drawing.width, room.width, card.x, card.width, zoom),
    y: staysY ? now.y : room.top + along(drawing.y, drawing.height, room.height, card.y, card.height, zoom),
    zoom,
  };
}

/** One direction of it: by how much the drawing is moved. */
function along(
  start: number,
  size: number,
  room: number,
  card: number,
  cardSize: number,
  zoom: number,
): number {
  if (size * zoom <= room) return (room - size * zoom) / 2 - start * zoom;
  const fromStart = -start * zoom;
  if ((card + cardSize - start) * zoom <= room) return fromStart;
  const centred = room / 2 - (card + cardSize / 2) * zoom;
  const fromEnd = room - (start + size) * zoom;
  return Math.min(fromStart, Math.max(fromEnd, centred));
}

/**
 * Where to look from so that a card is seen, moved as little as that needs: all of it where it fits at a readable size;
 * else the part of it that matters, as near its beginning as that allows.
 */
export function cardView(
  now: XY & { zoom: number },
  room: Room,
  card: Area,
  part: Area,
): XY & { zoom: number } {
  const fits = Math.min(room.width / card.width, room.height / card.height);
  const zoom = Math.max(READABLE, Math.min(MAX_FIT, Math.max(now.zoom, READABLE), fits));
  const move = (
    seen: number,
    at: number,
    size: number,
    first: number,
    from: number,
    partAt: number,
    partSize: number,
  ) =>
    size * zoom > from
      ? first + along(at, size, from, partAt, partSize, zoom)
      : Math.min(Math.max(at * now.zoom + seen, first), first + from - size * zoom) - at * zoom;
  return {
    x: move(now.x, card.x, card.width, room.left, room.width, part.x, part.width),
    y: move(now.y, card.y, card.height, room.top, room.height, part.y, part.height),
    zoom,
  };
}
