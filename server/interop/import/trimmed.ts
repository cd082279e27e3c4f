/** A text without these characters at its beginning and its end. */
export function trimmed(text: string, begin: string, end = begin): string {
  let from = 0;
  let to = text.length;
  while (from < to && begin.includes(text.charAt(from))) from++;
  while (to > from && end.includes(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}
