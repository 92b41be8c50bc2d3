import { type Account, contracts } from '../../src/client/index.js';
import { shownAs, type TableColumn } from '../columns.js';
import { crud } from '../crud.js';
import { ago } from '../times.js';

export const userColumns: TableColumn<Account>[] = [
  { name: 'id', value: (user) => user.id, only: 'data' },
  { name: 'name', value: (user) => user.username },
  { name: 'role', value: (user) => user.role },
  { name: 'state', value: (user) => (user.disabled ? 'disabled' : 'active') },
  { name: 'email', value: (user) => user.email },
  shownAs('made', (user) => user.createdAt, ago, 'never'),
  { name: 'short', value: (user) => user.id.slice(-6), only: 'table' },
];

/** A user is known by the name of the account, its id, or the end of that. */
export const userCrud = crud({
  noun: 'user',
  rows: 'users',
  endpoints: { list: (await contracts.users()).list },
  columns: userColumns,
  named: ({ id, username }) => ({ id, name: username }),
});
