/** Which files of a folder or an archive are worth reading when somebody imports it, in the browser and on the server. */

/** No format that is read is written in these. */
const BINARY =
  /\.(png|jpe?g|gif|webp|ico|svg|pdf|woff2?|ttf|mp[34]|zip|gz|tar|pyc|so|dll|exe|db|sqlite3?|parquet|bin|onnx|pt|pkl|pickle|np[yz]|h5|faiss|joblib)$/i;
/** What a folder's tools are set up with, among it keys: `.env`, `.gitignore`. */
const HIDDEN = /(^|\/)\.[^/]+$/;
/** Folders of tools, of which no file is meant. */
const OF_TOOLS = /(^|\/)(__MACOSX|node_modules|\.git|\.venv|venv|__pycache__|\.DS_Store)(\/|$)/;

/** Whether a file in a folder or an archive may be part of an import. */
export const isWorthReading = (path: string): boolean =>
  !path.endsWith("/") && !BINARY.test(path) && !HIDDEN.test(path) && !OF_TOOLS.test(path);
