import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient, type KnowledgeAnswer } from '../../src/client/index.js';
import { messageView, tabsView } from '../../tui/frame/bars.js';
import { markedAt, markedRows, markedWords } from '../../tui/parts/marks.js';
import { plainRowText } from '../../tui/parts/row.js';
import { answerPage } from '../../tui/screens/knowledge/answer.js';
import { chunkPage } from '../../tui/screens/knowledge/chunk.js';
import { knowledgePage } from '../../tui/screens/knowledge/knowledge.js';
import { createFeed } from '../../tui/state/feed.js';
import { createNeedHolder } from '../../tui/state/needs.js';
import { chunkKey } from '../../tui/state/rows.js';
import { reduce, type StateAction } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { until, untilMatches } from '../harness/app.js';
import { frozenClock } from '../harness/clock.js';
import { runLoopTurns } from '../harness/turns.js';
import { aFinding, aHit, anEntry, known, listLoaded, marked, NOW, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const here: StateAction = { type: 'ui.root', root: 'knowledge' };
const searched = (filter: string): StateAction => ({ type: 'ui.looked', change: { filter } });
const opened = (id: string, of = 'entry_01'): StateAction => ({
  type: 'ui.opened',
  place: { page: 'chunk', id, of },
});
const chunk = (n: number, text: string, before: number | null, after: number | null) => ({
  ...{ id: chunkKey('entry_01', n), entryId: 'entry_01', chunk: n, chunks: 2, text, page: 3 },
  ...{ title: 'Staging', sourceType: 'note' as const, sourceId: null, trust: 'owner' as const },
  ...{ uri: null, heading: 'Servers', before, after },
});

describe('marks', () => {
  it('stay on their words when a text is folded and made safe', () => {
    const text = 'one \u001b[2J two three four five';
    const from = text.indexOf('three');
    const rows = markedRows(text, [[from, from + 'three four'.length]], 12);
    expect(rows.map(plainRowText)).to.equal(['one \\x1b[2J', 'two three', 'four five']);
    expect(marked(rows)).to.equal(['three', 'four']);
    expect(markedAt(rows)).to.equal([1, 2]);
  });

  it('count in UTF-16 units, over line feeds and wide characters', () => {
    const text = '😀 argon\nkrypton is 東京 here';
    const at = (word: string): number[] => [text.indexOf(word), text.indexOf(word) + word.length];
    const rows = markedRows(text, [at('argon'), at('krypton'), at('東京')], 40);
    expect(marked(rows)).to.equal(['argon', 'krypton', '東京']);
    expect(markedWords(text, [at('argon'), at('argon')])).to.equal(['argon']);
  });

  it('have spaces in place of tabs, which stand between the cells of tables', () => {
    expect(markedRows('Room\tSize', [[5, 9]], 80).map(plainRowText)).to.equal(['Room    Size']);
    expect(marked(markedRows('Room\tSize', [[5, 9]], 80))).to.equal(['Size']);
  });

  it('are of a bounded part of a text, whose rows are made once', () => {
    const text = 'word 東京 '.repeat(40_000);
    const rows = markedRows(text, [[0, 4]], 80);
    expect(plainRowText(rows.at(-1) ?? [])).to.equal('… 57,856 more characters');
    expect(markedRows(text, [[0, 4]], 80)).to.shallow.equal(rows);
    expect(markedRows(text, [[0, 4]], 81)).to.not.shallow.equal(rows);
    expect(marked(markedRows(text, [[5, 7]], 80))).to.equal(['東京']);
  });

  it('leave nothing out of a line that is very long', () => {
    const text = 'x'.repeat(9001);
    const rows = markedRows(text, [[8999, 9001]], 80);
    expect(rows.map(plainRowText).join('')).to.equal(text);
    expect(marked(rows)).to.equal(['xx']);
  });
});

describe('knowledge', () => {
  const entries = [anEntry(), anEntry({ id: 'b', title: 'Page', trust: 'outside', chunks: 0 })];

  it('lists entries, the newest first, and shows the beginning of the selected one', () => {
    const first = chunk(0, 'The staging server\nis \u001b[2Jargon.', null, 1);
    const state = known([
      ...listLoaded('entries', entries),
      ...listLoaded('chunks', [first], first.id),
      here,
    ]);
    const lines = shown(knowledgePage.view, state, 80, 19);
    expect(lines.slice(0, 3)).to.equal([
      '  TITLE                     FROM    TRUST    STATE     CHUNKS   AGE',
      '> Staging                   note    owner    ready          2    2m',
      '  Page                      note    outside  ready          0    2m',
    ]);
    expect(lines.slice(-2)).to.equal(['The staging server', 'is \\x1b[2Jargon.']);
    expect(knowledgePage.summary?.(state)).to.equal('2 entries   (/ searches, i asks)');
    expect(shown(tabsView, state, 80, 1)[0]).to.match(/^\[Knowledge\] 1Over 2Hook .* 0Logs$/);
  });

  it('shows what a search found, with the source and what matched', () => {
    const state = known([
      ...listLoaded('entries', entries),
      ...listLoaded('found', [aFinding('staging')], 'staging'),
      here,
      searched('staging'),
    ]);
    expect(shown(knowledgePage.view, state, 80, 19).slice(1)).to.equal([
      '> Staging               note    outside     3  The staging server is argon.',
      '',
      'Staging   outside',
      'From      note   page 3',
      'Source    https://example.org/staging',
      'Found by  word, meaning',
      'Matched   staging',
      '',
      'The staging server is argon.',
    ]);
    expect(marked(knowledgePage.text?.(state, 80) ?? [])).to.equal(['staging']);
    expect(shown(messageView, state, 80, 1)[0]).to.match(/^\/staging +1 hit, hybrid$/);
  });

  it('says that a search was degraded, on the screen and where nothing fits', () => {
    const degraded = '25 chunks have no vectors yet and can only be found by keywords';
    const finding = aFinding('x', { degraded, results: [] });
    const state = known([...listLoaded('found', [finding], 'x'), here, searched('x')]);
    expect(shown(knowledgePage.view, state, 80, 19).slice(0, 2)).to.equal([
      `degraded: ${degraded}`,
      'No matches.',
    ]);
    expect(knowledgePage.summary?.(state)).to.equal('0 hits, hybrid, degraded');
  });

  it('keeps what was found until the next reply, and says that it searches', () => {
    const ask = { do: 'ask' as const, of: 'argon', generation: 9, at: NOW, keepsRows: true };
    const state = known([
      ...listLoaded('found', [aFinding('staging')], 'staging'),
      { type: 'list', name: 'found', change: ask },
      here,
      searched('argon'),
    ]);
    expect(shown(knowledgePage.view, state, 80, 19)[1]).to.match(/^> Staging/);
    expect(knowledgePage.summary?.(state)).to.equal('searching…');
    const trouble = { status: 400, message: 'query contains no word to search for' };
    const fail = { do: 'fail' as const, generation: 9, trouble };
    const failed = reduce(state, { type: 'list', name: 'found', change: fail });
    expect(shown(knowledgePage.view, failed, 80, 19)).to.equal([
      'Search failed: query contains no word to search for',
    ]);
  });

  it('deletes an entry by its typed name, or by the end of its id where that is long', () => {
    const asks = (title: string) => {
      const rows = [anEntry({ id: 'entry_000000123456', title })];
      return knowledgePage.acts?.(known([...listLoaded('entries', rows), here])).delete?.ask?.name;
    };
    expect(asks('Staging')).to.equal('Staging');
    expect(asks('a '.repeat(50))).to.equal('123456');
  });

  it('names the command that shows the same', () => {
    const lists = [...listLoaded('entries', entries), ...listLoaded('found', [aFinding('a')], 'a')];
    const line = (...more: StateAction[]) => knowledgePage.line?.(known([...lists, here, ...more]));
    expect(line()).to.equal('adjutant knowledge get entry_01');
    expect(line(searched('a'))).to.equal('adjutant knowledge chunk entry_01 1');
    const nothing = [...listLoaded('found', [aFinding("o'k", { results: [] })], "o'k")];
    expect(line(...nothing, searched("o'k"))).to.equal("adjutant knowledge search 'o'\\''k'");
  });
});

describe('a chunk', () => {
  const text = `${'line\n'.repeat(30)}The staging\tserver is argon.`;
  const second = chunk(1, text, 0, null);
  const hit = aHit({ snippet: '…The staging server is argon.', highlights: [[5, 12]] });
  const actions = [
    ...listLoaded('entries', [anEntry()]),
    ...listLoaded('found', [aFinding('staging', { results: [hit] })], 'staging'),
    ...listLoaded('chunks', [second], second.id),
    here,
    searched('staging'),
    opened('1'),
  ];

  it('is shown whole, with what matched, and n goes there', () => {
    const state = known(actions);
    expect(shown(chunkPage.view, state, 80, 19).slice(0, 6)).to.equal([
      'Staging',
      'chunk 2 of 2   page 3   note   owner',
      '',
      'Under  Servers',
      '',
      'line',
    ]);
    expect(marked(chunkPage.text?.(state, 80) ?? [])).to.equal(['staging']);
    expect(chunkPage.marks?.(state, 80)).to.equal([32]);
  });

  it('turns to the chunk before and after', () => {
    const state = known(actions);
    expect(chunkPage.turns?.(state, -1)).to.equal({ id: '0', scroll: 0 });
    expect(chunkPage.turns?.(state, 1)).to.be.null();
    expect(chunkPage.summary?.(state)).to.equal('the last chunk   ([ previous)');
  });
});

describe('an answer', () => {
  const answer: KnowledgeAnswer = {
    answer: 'It is argon [1].',
    citations: [
      {
        n: 1,
        entryId: 'entry_01',
        chunk: 1,
        title: 'Staging',
        sourceType: 'note',
        sourceId: null,
        uri: null,
        trust: 'owner',
        page: null,
        quote: 'server\nis argon',
        from: 12,
        to: 27,
      },
    ],
    model: 'gpt',
    grounded: true,
  };
  const question = 'What is it called?';
  const asked: StateAction[] = [
    here,
    { type: 'ui.opened', place: { page: 'answer', id: question } },
  ];
  const loaded = (over: Partial<KnowledgeAnswer> = {}) =>
    listLoaded('answers', [{ ...answer, ...over, id: question }], question);

  it('shows its citations, which open at their chunk', () => {
    const state = known([...loaded(), ...asked]);
    expect(shown(answerPage.view, state, 80, 19)).to.equal([
      question,
      '',
      'It is argon [1].',
      '',
      'Every sentence has a quote   by gpt',
      '',
      '    N  SOURCE          PAGE  QUOTE',
      '> [1]  Staging            -  server is argon',
    ]);
    expect(answerPage.opens?.(state)).to.equal({ page: 'chunk', id: '1', of: 'entry_01' });
    const row = chunk(1, 'The staging server\nis argon.', 0, null);
    const chunks = listLoaded('chunks', [row], row.id);
    const there = known([...loaded(), ...chunks, ...asked, opened('1')]);
    expect(marked(chunkPage.text?.(there, 80) ?? [])).to.equal(['server', 'is argon']);
  });

  it('says what is not proved, and that it is being asked', () => {
    const unproved = known([...loaded({ grounded: false, citations: [] }), ...asked]);
    expect(shown(answerPage.view, unproved, 80, 19).at(-1)).to.equal(
      'Some sentences have no quote   by gpt',
    );
    const ask = { do: 'ask' as const, of: question, generation: 1, at: NOW - 1500 };
    const waits = known([{ type: 'list', name: 'answers', change: ask }, ...asked]);
    expect(shown(answerPage.view, waits, 80, 19)).to.equal([question, '', 'loading 1.5 s']);
    expect(answerPage.summary?.(waits)).to.contain('asking');
  });
});

describe('requests about knowledge', () => {
  /** A daemon that replies only on request. */
  const openFeed = () => {
    const asked: string[] = [];
    const ended: string[] = [];
    const replies = new Map<string, () => void>();
    const fetch: typeof globalThis.fetch = (url, init) => {
      const { query, question } = JSON.parse(String(init?.body));
      const word: string = query ?? question;
      asked.push(word);
      const body = String(url).endsWith('ask')
        ? { answer: word, citations: [], model: null, grounded: true }
        : { mode: 'hybrid', degraded: null, results: [], tookMs: 1 };
      return new Promise((resolve, reject) => {
        init?.signal?.addEventListener('abort', () => {
          ended.push(word);
          reject(init.signal?.reason);
        });
        const headers = { 'content-type': 'application/json' };
        replies.set(word, () => resolve(new Response(JSON.stringify(body), { headers })));
      });
    };
    const store = createStore(reduce, known());
    const client = createClient({ url: 'http://127.0.0.1:1', fetch });
    const clock = frozenClock(NOW);
    const feed = createFeed({ client, store, clock });
    const close = (): void => {
      feed.close();
      store.close();
    };
    const { lists } = store.get();
    const hold = createNeedHolder({ feed, clock });
    return { asked, ended, replies, store, feed, clock, close, lists, hold };
  };
  const found = (of: string) => [{ is: 'list' as const, list: 'found' as const, of, afterMs: 20 }];
  const answers = (of: string) => [{ is: 'list' as const, list: 'answers' as const, of }];
  const isAsked = (asked: string[], word: string) =>
    until(async () => asked.includes(word), Boolean);

  it('are not made while one types, and a newer one ends the one before', async () => {
    const { asked, ended, replies, store, clock, close, hold } = openFeed();
    for (const query of ['s', 'st', 'sta']) hold(found(query));
    clock.forward(20);
    await isAsked(asked, 'sta');
    hold(found('stag'));
    clock.forward(20);
    await isAsked(asked, 'stag');
    expect([asked, ended]).to.equal([['sta', 'stag'], ['sta']]);
    replies.get('stag')?.();
    await untilMatches(async () => store.get().lists.found.byId.found?.query, 'stag');
    expect(store.get().lists.found.trouble).to.be.null();
    close();
  });

  it('go on for an answer when its page is left, and are made once', async () => {
    const { asked, ended, replies, store, feed, close, hold } = openFeed();
    const knows = (question: string) =>
      until(async () => store.get().lists.answers.byId[question], Boolean);
    hold(answers('who?'));
    await isAsked(asked, 'who?');
    hold([]);
    hold(answers('when?'));
    await isAsked(asked, 'when?');
    replies.get('who?')?.();
    replies.get('when?')?.();
    await Promise.all([knows('who?'), knows('when?')]);
    hold(answers('who?'));
    await feed.reloadShown();
    await feed.reload('answers');
    await runLoopTurns();
    expect([asked, ended]).to.equal([['who?', 'when?'], []]);
    close();
  });
});
