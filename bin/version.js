/** Oldest Node version for better-sqlite3. It crashes with a segmentation fault in an older one. */
const MIN_NODE = '22.14';

const isOlder = ([major, minor], [minMajor, minMinor]) =>
  major < minMajor || (major === minMajor && minor < minMinor);
const numbers = (version) => version.split('.').map(Number);

export const isSupported = !isOlder(numbers(process.versions.node), numbers(MIN_NODE));

export const refusal = `Adjutant needs Node ${MIN_NODE} or later. This is Node ${process.versions.node}.`;
