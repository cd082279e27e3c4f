/** A fault in a text that somebody wrote, with its place: offsets into the text. */
export interface TextDiagnostic {
  message: string;
  from: number;
  to: number;
}
