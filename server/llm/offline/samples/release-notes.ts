import type { Sample } from "./define";

const notes = `# 2.0.0

## Breaking
- The v1 API is gone. Move to the v2 API before you upgrade. (#430)

## New
- Export reports as PDF. (#412)

## Fixed
- Totals are no longer rounded twice. (#418)
- Search leaves out archived projects. (#421)`;

export const releaseNotes: Sample = {
  input: {
    version: "2.0.0",
    commits:
      "feat: export reports as PDF (#412)\nfix: totals were rounded twice (#418)\nfix: search found archived projects (#421)\nchore: update dependencies\nfeat!: remove the v1 API (#430)",
  },
  answers: [
    { role: "ReleaseWriter", phrases: ["Write the release notes"], gives: notes },
    {
      role: "ReleasePublisher",
      phrases: ["Save this text", "file_write (200)"],
      gives: "Saved as release-notes/2.0.0.md.",
    },
    {
      role: "ReleasePublisher",
      phrases: ["Save this text"],
      call: { name: "file_write", args: { path: "release-notes/2.0.0.md", content: notes } },
    },
    {
      role: "ReleasePublisher",
      phrases: ["Save this text"],
      gives: "Nothing was saved: a person declined.",
    },
  ],
};
