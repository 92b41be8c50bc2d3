import type { PlatformReply } from '../../src/client/index.js';
import type { Column } from '../columns.js';

export const platformColumns: Column<PlatformReply>[] = [
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
