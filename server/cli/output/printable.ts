/** The colours that progress is drawn in; whoever writes them into a name changes nothing but a colour. */
const OWN_COLOUR = /^\u001b\[(?:0|1|2|22|31|32|33|35|36|39)m$/;
const ACTS_ON_TERMINAL = /\u001b\[\d{1,2}m|(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/**
 * Text for a terminal, in which nothing that files, models or tools wrote moves the cursor, clears the screen or turns
 * words around: such characters are spelled out. Line breaks and what joins emoji stay.
 */
export const printable = (text: string): string =>
  text.replace(ACTS_ON_TERMINAL, (found) =>
    OWN_COLOUR.test(found)
      ? found
      : [...found]
          .map((char) =>
            char < " " || char > "~" ? `\\u{${char.codePointAt(0)?.toString(16) ?? ""}}` : char,
          )
          .join(""),
  );

/** The same, on one line: a line break in a name would look like a line of our own. */
export const printableLine = (text: string): string =>
  printable(text.replace(/\s+/g, (run) => (/[\r\n]/.test(run) ? " " : run)));

/** JSON for programs, which a terminal shows as it stands: the control characters that JSON leaves are escaped, too. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
