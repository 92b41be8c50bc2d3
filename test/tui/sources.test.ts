import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { documentPage } from '../../tui/screens/knowledge/document.js';
import { hitsPage } from '../../tui/screens/knowledge/hits.js';
import { reportPage } from '../../tui/screens/knowledge/report.js';
import { operationTarget } from '../../tui/screens/operations/operations.js';
import { type DocumentPageItem, pageKey } from '../../tui/state/rows.js';
import type { StateAction } from '../../tui/state/state.js';
import {
  aFinding,
  aHit,
  anOperation,
  aReport,
  known,
  listLoaded,
  marked,
  shown,
} from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const here: StateAction = { type: 'ui.root', root: 'knowledge' };
const typed = (filter: string): StateAction => ({ type: 'ui.looked', change: { filter } });
const opened = (page: 'document' | 'report' | 'answer', id: string, of?: string): StateAction => ({
  type: 'ui.opened',
  place: { page, id, ...(of && { of }) },
});
const SCAN = { sourceType: 'document' as const, sourceId: 'document_01', page: 2 };
const scanned = (over: Partial<DocumentPageItem> = {}): DocumentPageItem => ({
  ...{ id: pageKey('document_01', 2), filename: 'letter.pdf', pages: 3, number: 2, chars: 40 },
  ...{ ocr: true, confidence: 93, error: null, text: 'The staging\nserver is argon. Ask Grace.' },
  ...over,
});
const page = scanned();
const loaded = listLoaded('documentPages', [page], page.id);

describe('the source of a text', () => {
  it('is the page of the document, the report, or else the chunk', () => {
    const related = (over: Parameters<typeof aHit>[0]) => {
      const finding = aFinding('x', { results: [aHit(over)] });
      return hitsPage.related?.(known([...listLoaded('found', [finding], 'x'), here, typed('x')]));
    };
    expect(related(SCAN)).to.equal({ page: 'document', id: '2', of: 'document_01' });
    expect(related({ ...SCAN, page: null })).to.equal({
      ...{ page: 'document', id: '1', of: 'document_01' },
    });
    expect(related({ sourceType: 'research', sourceId: 'research_01' })).to.equal({
      ...{ page: 'report', id: 'research_01' },
    });
    expect(related({})).to.equal({ page: 'chunk', id: '1', of: 'entry_01' });
  });

  it('is where an operation leads', () => {
    const goal = (kind: string, id: string) =>
      operationTarget(anOperation({ resource: { kind, id } }));
    expect(goal('document', 'document_01')).to.equal({
      ...{ page: 'document', id: '1', of: 'document_01' },
    });
    expect(goal('research', 'research_01')).to.equal({ page: 'report', id: 'research_01' });
    expect(goal('user', 'user_01')).to.be.null();
  });
});

describe('the page of a document', () => {
  const there = (...before: StateAction[]) =>
    known([...loaded, ...before, opened('document', '2', 'document_01')]);

  it('shows its text, what the search found in it, and how it was read', () => {
    const hit = aHit({ ...SCAN, snippet: '…staging server is argon.…', highlights: [[19, 24]] });
    const state = there(
      ...listLoaded('found', [aFinding('argon', { results: [hit] })], 'argon'),
      ...[here, typed('argon')],
    );
    expect(shown(documentPage.view, state, 80, 19)).to.equal([
      'letter.pdf',
      'page 2 of 3   recognized from an image, 93 %',
      '',
      'The staging',
      'server is argon. Ask Grace.',
    ]);
    expect(marked(documentPage.text?.(state, 80) ?? [])).to.equal(['argon']);
    expect(documentPage.marks?.(state, 80)).to.equal([1]);
    expect(documentPage.line?.(state)).to.equal('adjutant documents text document_01 --page 2');
  });

  it('marks the quotes of the answer that led there, over line feeds', () => {
    const cited = (quote: string, n: number, over = {}) => ({
      ...{
        n,
        entryId: 'entry_01',
        chunk: 0,
        title: 'letter.pdf',
        uri: null,
        quote,
        from: 0,
        to: 1,
      },
      ...{ ...SCAN, trust: 'outside' as const, ...over },
    });
    const citations = [
      cited('Ask Grace.', 1),
      cited('staging\nserver', 2),
      cited('argon', 3, { page: 1 }),
    ];
    const answer = { id: 'Who?', answer: 'Grace [1].', citations, model: 'gpt', grounded: true };
    const state = there(...listLoaded('answers', [answer], 'Who?'), here, opened('answer', 'Who?'));
    expect(marked(documentPage.text?.(state, 80) ?? [])).to.equal([
      'staging',
      'server',
      'Ask Grace.',
    ]);
  });

  it('marks what is searched for on it, with characters of patterns as they stand', () => {
    const find = (word: string) =>
      marked(
        documentPage.text?.(
          known([...loaded, here, opened('document', '2', 'document_01'), typed(word)]),
          80,
        ) ?? [],
      );
    expect(find('SERVER')).to.equal(['server']);
    expect(find('argon.')).to.equal(['argon.']);
    expect(find('(')).to.equal([]);
  });

  it('says why there is no text', () => {
    const failed = scanned({ text: '', ocr: false, pages: null, error: 'The file is damaged' });
    const state = known([
      ...listLoaded('documentPages', [failed], failed.id),
      ...[here, opened('document', '2', 'document_01')],
    ]);
    expect(shown(documentPage.view, state, 80, 19).at(-1)).to.equal(
      'No text could be read from this page. The file is damaged',
    );
  });

  it('turns to the page before and after, and not beyond', () => {
    expect(documentPage.turns?.(there(here), 1)).to.equal({ id: '3', scroll: 0 });
    expect(documentPage.turns?.(there(here), -1)).to.equal({ id: '1', scroll: 0 });
    const last = scanned({ id: pageKey('document_01', 3), number: 3 });
    const state = known([
      ...listLoaded('documentPages', [last], last.id),
      ...[here, opened('document', '3', 'document_01')],
    ]);
    expect(documentPage.turns?.(state, 1)).to.be.null();
    expect(documentPage.summary?.(state)).to.equal('the last page   ([ previous)');
  });
});

describe('a question of research', () => {
  it('shows its report with the sources, and leads to its operation', () => {
    const report = aReport();
    const state = known([
      ...listLoaded('reports', [report], report.id),
      ...[here, opened('report', report.id)],
    ]);
    const lines = shown(reportPage.view, state, 80, 30);
    expect(lines[0]).to.match(/^When was the bridge closed\? {3}completed +\[Report\] Sources$/);
    expect(lines).to.include([
      'Limitation  No search provider is set up',
      'It was closed in May [1].',
    ]);
    const tabbed = known([
      ...listLoaded('reports', [report], report.id),
      ...[here, opened('report', report.id)],
      { type: 'ui.looked', change: { tab: 1, selected: '2' } },
    ]);
    expect(shown(reportPage.view, tabbed, 80, 30).slice(3)).to.equal([
      '    N  STATE    SOURCE                FROM',
      '  [1]  quoted   Bridges               https://example.org/bridge',
      '> [2]  failed   Tolls                 The page did not answer',
    ]);
    expect(reportPage.opens?.(tabbed)).to.equal({ page: 'chunk', id: '0', of: 'entry_01' });
    expect(reportPage.related?.(state)).to.equal({ page: 'operation', id: 'operation_01' });
    expect(reportPage.acts?.(state)).to.equal({});
    expect(reportPage.summary?.(state)).to.equal('2 sources, 1 quoted   (] shows them)');
  });

  it('can be cancelled while it goes on, and is loaded again', () => {
    const report = aReport({ status: 'reading', report: null, finishedAt: null });
    const state = known([
      ...listLoaded('reports', [report], report.id),
      ...[here, opened('report', report.id)],
    ]);
    expect(reportPage.acts?.(state).stop?.line).to.equal(`adjutant research cancel ${report.id}`);
    expect(reportPage.needs(state)).to.equal([
      { is: 'list', list: 'reports', of: report.id, everyMs: 3000 },
    ]);
    expect(shown(reportPage.view, state, 80, 30)).to.include('Search  bridge closed');
  });
});
