import type { PlatformBody } from './platform.js';

/** Returns the parts of a message with further properties in the last one. */
export const withLast = (parts: PlatformBody[], more: PlatformBody): PlatformBody[] => [
  ...parts.slice(0, -1),
  { ...parts.at(-1), ...more },
];
