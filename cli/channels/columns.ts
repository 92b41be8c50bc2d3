import type { Client, PlatformReply } from '../../src/client/index.js';
import type { TableColumn } from '../columns.js';
import { usageFault } from '../exit.js';
import { oneLine } from '../text.js';

export const platformTableColumns: TableColumn<PlatformReply>[] = [
  { name: 'kind', value: (one) => one.kind },
  { name: 'state', value: (one) => stateOf(one), isState: true, only: 'table' },
  { name: 'sends', value: (one) => one.sends, only: 'data' },
  { name: 'receives', value: (one) => one.receives, only: 'data' },
  { name: 'missing', value: (one) => missingOf(one).join(' ') },
  { name: 'base-url', value: (one) => one.baseUrl },
  { name: 'receiver', value: (one) => one.receiver, only: 'data' },
];

const stateOf = ({ sends, receives, updatedAt }: PlatformReply): string => {
  if (updatedAt === null) return 'not set up';
  if (sends && receives) return 'ready';
  if (sends) return 'sends only';
  return receives ? 'receives only' : 'not complete';
};

/** The names of what is not set. */
export const missingOf = ({ fields }: PlatformReply): string[] =>
  fields.filter(({ isSet }) => !isSet).map(({ name }) => name);

/** Usage: there is none of that kind. */
export const findPlatform = async (client: Client, kind: string): Promise<PlatformReply> => {
  const { platforms } = await client.platforms.list();
  const found = platforms.find((one) => one.kind === kind.toLowerCase());
  if (found) return found;
  const kinds = platforms.map((one) => one.kind).join(', ');
  throw usageFault(`No platform "${oneLine(kind)}".`, `There are: ${kinds}`);
};
