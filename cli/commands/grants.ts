import { contracts, type Grant } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import type { CommandGroup } from '../command.js';
import { crud } from '../crud.js';
import { safe } from '../text.js';

const columns = buildColumns<Grant>(
  ['id:data', 'short=id:tail'],
  { name: 'call', value: ({ tool, action }) => `${tool}.${action}` },
  ['scope', 'origin:whole'],
  {
    name: 'for',
    value: ({ hookId, sessionId }) => hookId ?? sessionId,
    show: ({ boundTo, hookId, sessionId }) => boundTo ?? hookId ?? sessionId ?? '',
  },
  ['method', 'path=pathPrefix'],
  ['uses', 'used=lastUsedAt:ago', 'expires=expiresAt:ago'],
);

const grantCrud = crud({
  noun: 'grant',
  path: 'approvals grants',
  rows: 'grants',
  endpoints: await contracts.grants(),
  columns,
  named: ({ id }) => ({ id, name: id }),
});

export const grantsGroup: CommandGroup = {
  commands: [
    grantCrud.list({
      examples: ['', '--scope host', '--all --json'],
      next: (rows) =>
        rows.length === 0
          ? 'No standing approvals. Create one: adjutant approvals approve <approval> ' +
            '--scope host'
          : undefined,
      seeAlso: 'adjutant help approvals',
    }),
    grantCrud.end({
      examples: ['4ew6rt', '4ew6rt --yes', '4ew6rt --yes --json'],
      ask: (typed) => `Delete the grant ${safe(typed)}? Such calls then need an approval again.`,
      message: 'Deleted.',
    }),
  ],
};
