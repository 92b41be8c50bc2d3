import {
  contracts,
  type KnowledgeAnswer,
  type KnowledgeEntry,
  type KnowledgeFolder,
} from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import type { CommandGroup, Context } from '../command.js';
import { crud } from '../crud.js';
import { indexCommand, warnUnread } from '../knowledge/index.js';
import { openFlag, openResult, quotePlace, showChunk } from '../knowledge/open.js';
import { type FoundResult, resultLines } from '../knowledge/results.js';
import { requestCommand } from '../request.js';
import { safe } from '../text.js';

const endpoints = await contracts.knowledge();

const columns = buildColumns<KnowledgeEntry>(
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

const resultColumns = buildColumns<FoundResult>(
  ['entry=entryId', 'chunk:number', 'score:number', 'title', 'type=sourceType', 'page:number'],
  ['trust', 'snippet'],
);

const answerColumns = buildColumns<KnowledgeAnswer>(['answer', 'grounded', 'model']);

const entryCrud = crud({
  noun: 'entry',
  rows: 'entries',
  path: 'knowledge',
  endpoints,
  columns,
  named: ({ id, title }) => ({ id, name: title }),
});

/** Default limit of a search. */
const USUAL_LIMIT = 10;

const search = requestCommand({
  name: 'search',
  args: '<query>',
  endpoint: endpoints.search,
  examples: [
    'invoices',
    '\'"annual report" -draft\' --limit 3',
    'argon --tags servers --json',
    'argon --output id | head -1',
    'argon --open 1',
  ],
  except: ['query', 'filters.entryIds'],
  areFields: true,
  flags: { open: openFlag },
  more: (_context, { flags: { open = 0 }, fields }) =>
    open > USUAL_LIMIT && fields.limit === undefined ? { limit: open } : {},
  notes: [
    'Quotes search for a phrase, and -word excludes a word. All other text is searched ' +
      'literally.',
  ],
  show: (context, reply, { flags }) => {
    const { out } = context;
    if (flags.open !== undefined) return openResult(context, reply, flags.open);
    if (out.format === 'json') return out.json(reply);
    const rows = reply.results.map((result) => Object.assign({ id: result.entryId }, result));
    if (out.format === 'table') for (const line of resultLines(context, rows)) out.line(line);
    else out.page({ reply, rows, columns: resultColumns });
    if (out.format !== 'table') return;
    if (rows.length === 0) out.note('No results.');
    else out.note('Show the full text: add --open 1, or the number of another result.');
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
  notes: [
    'Each quote in the answer is checked against the source text.',
    'Below each quote is the command that opens the source.',
    'In a pipe: the answer, then one line per quote, which begins with its [n].',
  ],
  say: ({ out }, reply) => {
    if (out.format === 'table') showAnswer(out, reply);
    else out.item(reply, answerColumns);
    if (out.format === 'tsv' && !out.isChosen) {
      out.page({ reply, rows: reply.citations, columns: citationColumns });
    }
    const isAnswer = reply.model !== null && reply.model !== DIGEST;
    if (isAnswer && !reply.grounded) out.note('Not every sentence is supported by a quote.');
  },
});

const citationColumns = buildColumns<KnowledgeAnswer['citations'][number]>(
  { name: 'n', value: ({ n }) => `[${n}]` },
  ['entry=entryId', 'chunk:number', 'title', 'page:number', 'uri', 'quote'],
);

/** Model of an answer that no language model wrote. */
const DIGEST = 'digest';

const showAnswer = (out: Context['out'], { answer, citations, model }: KnowledgeAnswer): void => {
  // The digest explains why there is no answer and repeats the citations, which are printed
  // below.
  const shownAnswer = model === DIGEST ? answer.replace(/: “.*$/s, ':') : answer;
  for (const line of shownAnswer.split('\n')) out.sentence(line);
  for (const citation of citations) {
    const { n, title, page, trust, quote } = citation;
    const place = page === null ? title : `${title}, page ${page}`;
    const whose = trust === 'outside' ? ' (from outside)' : '';
    out.sentence(`[${n}] ${place}${whose}: “${quote.replaceAll(/\s+/g, ' ')}”`, 4);
    out.line(`    ${quotePlace(citation)}`);
  }
};

const chunk = entryCrud.request({
  name: 'chunk',
  args: '<entry> <n>',
  endpoint: endpoints.chunk,
  examples: ['4ew6rt 0', '4ew6rt 3 --json', '4ew6rt 3 --output tsv | head'],
  notes: ['Chunks are numbered from 0.'],
  within: async (_client, _id, { n }) => ({ n: n ?? '' }),
  say: showChunk,
});

const create = requestCommand({
  name: 'create',
  args: '<text>',
  endpoint: endpoints.create,
  examples: [
    '"The staging server is argon." --tags servers',
    '"Ask Grace about invoices." --title Invoices',
    '"The office closes at six." --json',
    '- < note.txt',
  ],
  except: ['text'],
  areFields: true,
  mayBePiped: 'text',
  asks: [],
  show: ({ out }, entry) =>
    out.done(`Stored: ${safe(entry.title).replace(/\.$/, '')}.`, entry, columns),
});

export const knowledgeGroup: CommandGroup = {
  commands: [
    entryCrud.list({
      examples: ['', '--source-type note --q invoice', '--tags servers --json'],
      next: (rows) =>
        rows.length === 0 ? 'No entries yet. Create one: adjutant knowledge create "…"' : undefined,
      seeAlso: 'adjutant knowledge search',
    }),
    requestCommand({
      name: 'stats',
      endpoint: endpoints.stats,
      examples: ['', '--json', '| grep total'],
      except: [],
      show: ({ out }, reply) => out.item(reply, []),
    }),
    search,
    ask,
    entryCrud.get({ examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --fields title,content'] }),
    chunk,
    create,
    indexCommand,
    entryCrud.update({
      examples: ['4ew6rt --title "Minutes"', '4ew6rt --tags minutes,2026', '4ew6rt --edit'],
    }),
    entryCrud.delete({
      examples: [
        '4ew6rt',
        '4ew6rt --yes',
        'knowledge list --tags old --output id | xargs -n1 adjutant knowledge delete --yes',
      ],
      ask: ({ title }) => `Delete ${safe(title)} and its text?`,
    }),
  ],
  notes: ['Identify an entry by its title, its id, or the last six characters of the id.'],
};

const folderEndpoints = await contracts.folders();

const folderColumns = buildColumns<KnowledgeFolder>(
  ['id:data', 'short=id:tail', 'path', 'watch', 'error', 'scanned=scannedAt:ago'],
  { name: 'patterns', value: ({ patterns }) => patterns.join(' ') },
  { name: 'tags', value: ({ tags }) => tags.join(' ') },
  ['type:data', 'operationId:data', 'created=createdAt:ago'],
);

const folderCrud = crud({
  noun: 'folder',
  rows: 'folders',
  path: 'knowledge folders',
  endpoints: folderEndpoints,
  columns: folderColumns,
  named: ({ id, path }) => ({ id, name: path }),
});

const folderGet = folderCrud.request({
  name: 'get',
  args: '<folder>',
  endpoint: folderEndpoints.get,
  examples: ['/srv/notes', '4ew6rt --json', '4ew6rt --fields files,failures'],
  notes: ['In a pipe, files that could not be read completely are printed to stderr.'],
  show: (context, folder) => {
    const { out } = context;
    out.item(folder, folderColumns);
    if (out.format === 'tsv' && !out.isChosen) warnUnread(context, folder);
  },
});

export const foldersGroup: CommandGroup = {
  commands: [
    folderCrud.list({
      examples: ['', '--json', '--output id'],
      next: (rows) =>
        rows.length === 0
          ? 'No folders yet. Add one: adjutant knowledge index <path> --on-server'
          : undefined,
      seeAlso: 'adjutant knowledge index',
    }),
    folderGet,
    folderCrud.delete({
      examples: [
        '/srv/notes',
        '4ew6rt --yes',
        'knowledge folders list --output id | xargs -n1 adjutant knowledge folders delete --yes',
      ],
      ask: ({ path }) => `Remove ${safe(path)} and the entries read from it? Its files stay.`,
    }),
  ],
  notes: ['Identify a folder by its path, its id, or the last six characters of the id.'],
};
