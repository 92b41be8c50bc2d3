import type { KnowledgeEntry } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { markedRows } from '../../parts/marks.js';
import { orgFacts } from '../../parts/orgs.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { column, numberColumn, stateColumn } from '../../parts/table.js';
import { countedNoun, factRows } from '../../parts/text.js';
import { formatAge, timeOfEvent } from '../../parts/times.js';
import { listRows } from '../../state/lists.js';
import { chunkKey } from '../../state/rows.js';
import type { State } from '../../state/state.js';
import { listPage } from '../list.js';
import { deleteEntry } from './acts.js';
import { sourcePlace } from './source.js';

/** Indexing changes entries, and others may be added elsewhere. */
const EVERY_MS = 5000;
/**
 * Time that a selection must last before its text is loaded, in milliseconds, so that moving down
 * the list loads nothing.
 */
const REST_MS = 150;

/** Text written by others stands out. */
export const trustTone = (trust: KnowledgeEntry['trust']) =>
  trust === 'outside' ? ('untrusted' as const) : undefined;

const listEntryFacts = (state: State, entry: KnowledgeEntry): [string, string][] => {
  const { now } = state.session;
  const { sourceType, chunks, uri, tags, language, embeddedWith, error, createdAt } = entry;
  const size = `${countedNoun(chunks, 'chunk')}, ${countedNoun(entry.chars, 'character')}`;
  const facts: [string, string][] = [
    ['From', `${sourceType}   ${timeOfEvent(createdAt, now)}`],
    ['Size', `${size}${language === null ? '' : `   ${language}`}`],
    ...orgFacts(state, entry),
  ];
  if (uri !== null) facts.push(['Source', uri]);
  if (tags.length > 0) facts.push(['Tags', tags.join(', ')]);
  facts.push([
    'Vectors',
    embeddedWith === null ? 'none: found by words only' : `by ${embeddedWith}`,
  ]);
  if (error !== null) facts.push(['Error', error]);
  return facts;
};

const previewRows = (state: State, entry: KnowledgeEntry, width: number): ScreenRow[] => {
  const first = state.lists.chunks.byId[chunkKey(entry.id, 0)];
  return [
    row(
      tonedSpan('strong', entry.title),
      '   ',
      tonedSpan(trustTone(entry.trust), entry.trust),
      ...(entry.status === 'ready' ? [] : ['   ', tonedSpan('warn', entry.status)]),
    ),
    ...factRows(listEntryFacts(state, entry), width),
    ...(first ? [[], ...markedRows(first.text, [], width)] : []),
  ];
};

/** All entries, newest first, with a preview of the selected one. */
export const entriesPage: ScreenPage = listPage<KnowledgeEntry>({
  name: 'knowledge',
  title: 'Knowledge',
  noun: 'entry',
  nouns: 'entries',
  list: 'entries',
  rows: ({ lists }) => listRows(lists.entries),
  item: ({ id, title, sourceType, trust, status, tags }) => ({
    id,
    name: title,
    words: `${sourceType} ${trust} ${status} ${tags.join(' ')}`,
  }),
  columns: ({ lists, session: { now } }) => [
    column('TITLE', [24, 60, 0], ({ title }) => title),
    column('FROM', [6, 8, 2], ({ sourceType }) => sourceType),
    { ...column('TRUST', [7, 7, 4], ({ trust }) => trust), tone: ({ trust }) => trustTone(trust) },
    stateColumn('STATE', [8, 10, 1], ({ id, status }) => lists.entries.busy[id] ?? status),
    numberColumn('CHUNKS', [6, 6, 5], ({ chunks }) => chunks.toLocaleString('en')),
    numberColumn('AGE', [4, 5, 3], ({ createdAt }) => formatAge(createdAt, now)),
    column('TAGS', [20, 40, 6], ({ tags }) => tags.join(' ')),
  ],
  detail: previewRows,
  empty: [
    'No entries yet.',
    'Search your notes, files and web pages here, by words and by meaning.',
    '  a  add a note      adjutant knowledge index <file>',
  ],
  needs: (_, entry) => [
    { is: 'list', list: 'entries', everyMs: EVERY_MS },
    ...(entry && entry.chunks > 0
      ? [
          {
            is: 'list' as const,
            list: 'chunks' as const,
            of: chunkKey(entry.id, 0),
            afterMs: REST_MS,
          },
        ]
      : []),
  ],
  opens: ({ id }) => ({ page: 'chunk', id: '0', of: id }),
  related: (entry) => sourcePlace({ ...entry, page: null }),
  acts: (entry) => ({ delete: deleteEntry(entry.id, entry) }),
  leaves: (entry) => ({ edit: entry && ['knowledge', 'update', entry.id] }),
  summary: (_, rows) => {
    const working = rows.filter(({ status }) => status === 'indexing').length;
    const known = countedNoun(rows.length, 'entry', 'entries');
    return `${known}${working > 0 ? `, ${working} indexing` : ''}   (/ searches, i asks)`;
  },
});
