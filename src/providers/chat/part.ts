import type { PlatformBody } from './platform.js';

export const withLast = (parts: PlatformBody[], more: PlatformBody): PlatformBody[] => [
  ...parts.slice(0, -1),
  { ...parts.at(-1), ...more },
];
