import { contracts, type LoginSession } from '../../src/client/index.js';
import { shownAs, type TableColumn } from '../columns.js';
import type { CommandGroup } from '../command.js';
import { crud } from '../crud.js';
import { ago } from '../times.js';

const columns: TableColumn<LoginSession>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  { name: 'device', value: (one) => one.device, show: (one) => one.device ?? 'no name' },
  { name: 'state', value: (one) => (one.current ? 'this one' : 'open') },
  { name: 'address', value: (one) => one.address },
  shownAs('used', (one) => one.lastUsedAt, ago, 'never'),
  shownAs('begun', (one) => one.createdAt, ago),
  shownAs('ends', (one) => one.expiresAt, ago),
  { name: 'short', value: (one) => one.id.slice(-6), only: 'table' },
];

const loginCrud = crud({
  noun: 'login',
  argument: 'session',
  path: 'auth sessions',
  rows: 'sessions',
  endpoints: await contracts.logins(),
  columns,
  named: ({ id, device }) => ({ id, name: device ?? '' }),
});

export const loginsGroup: CommandGroup = {
  commands: [
    loginCrud.list({
      examples: ['', '--json', '--fields id,device'],
      next: () =>
        'One that you do not know: adjutant auth sessions delete <id>, then auth password',
    }),
    loginCrud.end({
      examples: ['4ew6rt', '"CLI on laptop" --yes', '4ew6rt --yes'],
      ask: () => 'End this login? Whoever uses it must log in again.',
      said: 'Ended.',
    }),
  ],
};
