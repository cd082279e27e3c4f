/** An error in a text that a person wrote, with its place: offsets into the text. */
export interface TextDiagnostic {
  message: string;
  from: number;
  to: number;
}
