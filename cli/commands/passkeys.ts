import { contracts, type Passkey } from '../../src/client/index.js';
import { passkeyColumns } from '../auth/columns.js';
import type { TableColumn } from '../columns.js';
import type { CommandGroup } from '../command.js';
import { crud } from '../crud.js';

const columns: TableColumn<Passkey>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  { name: 'name', value: (one) => one.name },
  { name: 'state', value: (one) => (one.works ? 'works' : 'other address') },
  ...passkeyColumns,
];

const passkeyCrud = crud({
  noun: 'passkey',
  path: 'auth passkeys',
  rows: 'passkeys',
  endpoints: await contracts.passkeys(),
  columns,
  named: (passkey) => passkey,
});

export const passkeysGroup: CommandGroup = {
  commands: [
    passkeyCrud.list({
      examples: ['', '--json', '--fields name,address'],
      next: (rows) => {
        if (rows.length === 0) return 'No passkeys. Add one in a browser: adjutant login --passkey';
        return rows.some(({ works }) => !works)
          ? 'Those of another address work there alone (ADJUTANT_PUBLIC_URL).'
          : undefined;
      },
    }),
    passkeyCrud.end({
      examples: ['"Ada’s phone"', '4ew6rt --yes', '4ew6rt'],
      ask: () => 'Delete this passkey? It will not log in any more.',
      said: 'Deleted.',
    }),
  ],
  notes: ['Add one in a browser: adjutant login --passkey'],
};
