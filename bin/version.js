/** The oldest Node that better-sqlite3 runs in; an older one ends with a segmentation fault. */
const MIN_NODE = '22.14';

const isOlder = ([major, minor], [minMajor, minMinor]) =>
  major < minMajor || (major === minMajor && minor < minMinor);
const numbers = (version) => version.split('.').map(Number);

/** Whether this Node runs Adjutant. */
export const isSupported = !isOlder(numbers(process.versions.node), numbers(MIN_NODE));

/** The error of a Node that does not. */
export const refusal = `Adjutant needs Node ${MIN_NODE} or later; this is ${process.versions.node}.`;
