/** An absolute path or its URL, of any system. Others in a text, as in `tokens/s`, begin in a word. */
const ABSOLUTE = /(?<![\w./\\])(?:file:\/\/\/?)?(?:[A-Za-z]:)?(?:[\\/][\w.@+~%-]+)+[\\/]?/g;

/**
 * Returns a text of the engine with each file by its name alone: the folders of this machine, and of
 * the one that the engine was built on, are nobody's concern. `folders` are known and may have spaces
 * in their names.
 */
export const withoutFolders = (text: string, folders: string[]): string =>
  folders
    // The longest first: one may be in another.
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, folder) => rest.replaceAll(folder, ''), text)
    .replace(ABSOLUTE, lastName);

const lastName = (path: string): string =>
  path.split(/[\\/]/).findLast((name) => name !== '') ?? '';
