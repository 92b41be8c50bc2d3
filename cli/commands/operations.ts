import { contracts } from '../../src/client/index.js';
import { type CommandGroup, command } from '../command.js';
import { crud } from '../crud.js';
import { followOperation, operationColumns, showEnd } from '../operations/follow.js';
import { cancelledText } from '../operations/interrupt.js';

const endpoints = await contracts.operations();

const operationCrud = crud({
  noun: 'operation',
  rows: 'operations',
  endpoints,
  columns: operationColumns,
  named: ({ id }) => ({ id, name: id }),
});

const watch = command({
  name: 'watch',
  args: '<operation>',
  summary: 'Follow an operation with its rate and remaining time',
  calls: [endpoints.get],
  examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --timeout 60'],
  notes: ['Exit code 1: the operation did not complete.'],
  run: async (context, { args }) => {
    const { client, id } = await operationCrud.find(context, args.operation);
    showEnd(context, await followOperation(context, await client.operations.get({ id })));
  },
});

const cancel = operationCrud.act('cancel', endpoints.cancel, {
  examples: [
    '4ew6rt',
    '4ew6rt --json',
    'operations list --status running --output id | xargs -n1 adjutant operations cancel',
  ],
  notes: ['Work that is already done is kept.'],
  message: cancelledText,
});

export const operationsGroup: CommandGroup = {
  commands: [
    operationCrud.list({
      examples: ['', '--status running', '--json'],
      next: (rows) => {
        const running = rows.find(({ status }) => status === 'running');
        if (running) return `Follow it: adjutant operations watch ${running.id.slice(-6)}`;
        return rows.length === 0 ? 'No operations.' : undefined;
      },
    }),
    watch,
    cancel,
  ],
};
