/** An absolute path or file URL of any system. Others, as in `tokens/s`, start inside a word. */
const ABSOLUTE = /(?<![\w./\\])(?:file:\/\/\/?)?(?:[A-Za-z]:)?(?:[\\/][\w.@+~%-]+)+[\\/]?/g;

/**
 * Reduces paths to file names, so that no folders of this or the build machine are disclosed.
 * `folders` may contain spaces.
 */
export const stripFolders = (text: string, folders: string[]): string =>
  folders
    // Longest first, because one may contain another.
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, folder) => rest.replaceAll(folder, ''), text)
    .replace(ABSOLUTE, lastName);

const lastName = (path: string): string =>
  path.split(/[\\/]/).findLast((name) => name !== '') ?? '';
