import { basename } from 'node:path';
import {
  contracts,
  type KnowledgeAnswer,
  type KnowledgeEntry,
  type KnowledgeResults,
} from '../../src/client/index.js';
import { columnsOf } from '../columns.js';
import { type CommandGroup, command } from '../command.js';
import { crud } from '../crud.js';
import { requestFields, requestFrom } from '../fields.js';
import { readFileOrStdin } from '../input.js';
import { resultLines } from '../knowledge/results.js';
import { noWait, showBegun } from '../operations/follow.js';
import { requestCommand } from '../request.js';
import { safe } from '../text.js';

const endpoints = await contracts.knowledge();

const columns = columnsOf<KnowledgeEntry>(
  [
    'id:data',
    'short=id:tail',
    'title',
    'status:state',
    'type=sourceType',
    'trust',
    'chunks:number',
  ],
  { name: 'tags', value: ({ tags }) => tags.join(' ') },
  ['uri:data', 'language:data', 'error', 'created=createdAt:ago'],
);

const resultColumns = columnsOf<KnowledgeResults['results'][number]>(
  ['entry=entryId', 'chunk:number', 'score:number', 'title', 'type=sourceType', 'page:number'],
  ['trust', 'snippet'],
);

const answerColumns = columnsOf<KnowledgeAnswer>(['answer', 'grounded', 'model']);

const entryCrud = crud({
  noun: 'entry',
  rows: 'entries',
  path: 'knowledge',
  endpoints,
  columns,
  named: ({ id, title }) => ({ id, name: title }),
});

const search = requestCommand({
  name: 'search',
  args: '<query>',
  endpoint: endpoints.search,
  examples: [
    'invoices',
    '\'"annual report" -draft\' --limit 3',
    'argon --tags servers --json',
    'argon --output id | head -1',
  ],
  except: ['query', 'filters.entryIds'],
  areFields: true,
  notes: ['Quotes keep a phrase, and -word excludes. All else is searched for as it stands.'],
  say: (context, reply) => {
    const { out } = context;
    const rows = reply.results.map((result) => Object.assign({ id: result.entryId }, result));
    if (out.format === 'table') for (const line of resultLines(context, rows)) out.line(line);
    else out.page({ reply, rows, columns: resultColumns });
    if (out.format !== 'table') return;
    if (rows.length === 0) out.note('Nothing fits.');
    if (reply.degraded) out.note(`${safe(reply.degraded)}.`);
  },
});

const ask = requestCommand({
  name: 'ask',
  args: '<question>',
  endpoint: endpoints.ask,
  examples: [
    '"What is the staging server called?"',
    '"Who looks after invoices?" --tags finance',
    '"When does the office close?" --json',
  ],
  except: ['question', 'filters.entryIds'],
  areFields: true,
  patienceMs: 300_000,
  notes: ['Each quote of the answer is held against the text that it is from.'],
  say: ({ out }, reply) => {
    if (out.format !== 'table') return out.item(reply, answerColumns);
    out.sentence(reply.answer);
    for (const { n, title, page, quote } of reply.citations) {
      const place = page === null ? title : `${title}, page ${page}`;
      out.sentence(`[${n}] ${place}: “${quote}”`, 4);
    }
    if (!reply.grounded) out.note('Not every sentence is proved by a quote.');
  },
});

const index = command({
  name: 'index',
  args: '<file|->',
  calls: [endpoints.index],
  examples: ['notes.md', 'minutes.txt --title "Minutes of May" --tags minutes', '- < notes.md'],
  fields: () => requestFields(endpoints.index.body, ['text']),
  flags: { noWait },
  notes: ['The file is read here and its text is sent: at most 1,000,000 characters.'],
  seeAlso: 'adjutant knowledge search; adjutant operations',
  run: async (context, { args, flags, fields }) => {
    const file = args['file|-'];
    const text = await readFileOrStdin(context, file);
    const named = file === '-' ? {} : { title: basename(file) };
    const given = { fields: { ...named, ...fields }, more: { text } };
    const body = await requestFrom(endpoints.index.body, given, context.at);
    const begun = await (await context.client()).knowledge.index({ body });
    await showBegun(context, begun, flags);
  },
});

const chunk = entryCrud.request({
  name: 'chunk',
  args: '<entry> <n>',
  endpoint: endpoints.chunk,
  examples: ['4ew6rt 0', '4ew6rt 3 --json', '4ew6rt 3 --output tsv | head'],
  notes: ['Chunks count from 0.'],
  within: async (_client, _id, { n }) => ({ n: n ?? '' }),
  show: ({ out }, reply) => out.item(reply, []),
});

const create = requestCommand({
  name: 'create',
  args: '<text>',
  endpoint: endpoints.create,
  examples: [
    '"The staging server is argon." --tags servers',
    '"Ask Grace about invoices." --title Invoices',
    '"The office closes at six." --json',
  ],
  except: ['text'],
  areFields: true,
  asks: [],
  show: ({ out }, entry) => out.done(`Kept: ${safe(entry.title)}.`, entry, columns),
});

export const knowledgeGroup: CommandGroup = {
  commands: [
    entryCrud.list({
      examples: ['', '--source-type note --q invoice', '--tag servers --json'],
      next: (rows) =>
        rows.length === 0 ? 'Nothing yet: adjutant knowledge create "…"' : undefined,
      seeAlso: 'adjutant knowledge search',
    }),
    requestCommand({
      name: 'stats',
      endpoint: endpoints.stats,
      examples: ['', '--json', '| grep total'],
      show: ({ out }, reply) => out.item(reply, []),
    }),
    search,
    ask,
    entryCrud.get({ examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --fields title,content'] }),
    chunk,
    create,
    index,
    entryCrud.update({
      examples: ['4ew6rt --title "Minutes"', '4ew6rt --tags minutes,2026', '4ew6rt --edit'],
    }),
    entryCrud.delete({
      examples: [
        '4ew6rt',
        '4ew6rt --yes',
        'knowledge list --tag old --output id | xargs -n1 adjutant knowledge delete --yes',
      ],
      ask: ({ title }) => `Delete ${safe(title)} and its text?`,
    }),
  ],
  notes: ['An entry is named by its title, its id, or the last six characters of that.'],
};
