import type { Client, Platform } from '../../src/client/index.js';
import { usageFault } from '../exit.js';
import { oneLine } from '../text.js';

/** Usage: there is none of that kind. */
export const findPlatform = async (client: Client, kind: string): Promise<Platform> => {
  const { platforms } = await client.platforms.list();
  const found = platforms.find((one) => one.kind === kind.toLowerCase());
  if (found) return found;
  const kinds = platforms.map((one) => one.kind).join(', ');
  throw usageFault(`No platform "${oneLine(kind)}".`, `There are: ${kinds}`);
};
