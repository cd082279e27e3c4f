import { errorCode } from "./guards";

/** A fault of the disk or of another process, which passes: the same reading or writing may succeed later. */
export const isPassing = (error: unknown): boolean =>
  /^(SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM|CANTOPEN|READONLY)|ENOSPC$|EDQUOT$|EIO$|EMFILE$|ENFILE$)/.test(
    errorCode(error) ?? "",
  );
