import { contracts, type Memory } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import type { CommandGroup } from '../command.js';
import { crud } from '../crud.js';
import { requestCommand } from '../request.js';
import { cutToWidth, safe } from '../text.js';

const endpoints = await contracts.memories();

const columns = buildColumns<Memory>(
  ['id:data', 'short=id:tail', 'about', 'text'],
  { name: 'state', value: (memory) => formatMemoryState(memory), isState: true },
  ['pinned:data', 'confirmed:data', 'by=createdBy:data', 'created=createdAt:ago'],
);

const formatMemoryState = ({ confirmed, pinned }: Memory): string => {
  if (!confirmed) return 'unconfirmed';
  return pinned ? 'pinned' : 'kept';
};

const formatMemoryTitle = ({ text }: Memory): string => `“${cutToWidth(text, 60)}”`;

const memoryCrud = crud({
  noun: 'memory',
  rows: 'memories',
  endpoints,
  columns,
  // A memory has no name, only an id.
  named: ({ id, text }) => ({ id, name: cutToWidth(text, 60) }),
});

const remember = requestCommand({
  name: 'create',
  args: '<text>',
  endpoint: endpoints.create,
  examples: [
    '"Answers in German, please." --about preference --pinned',
    '"The staging server is argon."',
    '"Grace looks after invoices." --about person --json',
    '- < sentence.txt',
  ],
  except: ['text'],
  areFields: true,
  mayBePiped: 'text',
  asks: [],
  show: ({ out }, memory) => out.done('Memory stored.', memory, columns),
});

export const memoriesGroup: CommandGroup = {
  commands: [
    memoryCrud.list({
      examples: ['', '--q berlin', '--no-confirmed', '--about preference --json'],
      next: (rows) => {
        if (rows.length === 0) return 'No memories yet. Create one: adjutant memories create "…"';
        const open = rows.find(({ confirmed }) => !confirmed);
        if (!open) return undefined;
        return `Confirm it: adjutant memories confirm ${open.id.slice(-6)}   or delete it`;
      },
      seeAlso: 'adjutant chat, where agents save and use them',
    }),
    memoryCrud.get({ examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --fields text,createdBy'] }),
    remember,
    memoryCrud.update({
      examples: [
        '4ew6rt --pinned',
        '4ew6rt --text "The staging server is xenon."',
        '4ew6rt --edit',
      ],
    }),
    memoryCrud.act('confirm', endpoints.update, {
      summary: 'Confirm a memory that an untrusted agent saved',
      examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --output id'],
      body: { confirmed: true },
      message: (memory) => `Confirmed: ${safe(formatMemoryTitle(memory))}`,
    }),
    memoryCrud.delete({
      examples: [
        '4ew6rt',
        '4ew6rt --yes',
        'memories list --no-confirmed --output id | xargs -n1 adjutant memories delete --yes',
      ],
      ask: (memory) => `Delete ${safe(formatMemoryTitle(memory))}?`,
    }),
  ],
  notes: ['Identify a memory by its id, or the last six characters of the id.'],
};
