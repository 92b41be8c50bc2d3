import type { ResearchJobDetail } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { markedAt, markedRows } from '../../parts/marks.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { column, numberColumn, stateColumn } from '../../parts/table.js';
import { countedNoun, factRows } from '../../parts/text.js';
import { timeOfEvent } from '../../parts/times.js';
import { actTarget, reportDone } from '../../state/act.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { findStateTone } from '../../theme.js';
import { detailPage } from '../detail.js';
import { tableFor } from '../list.js';
import { chunkPlace, typedMarks } from './source.js';

/** Reload interval while the question is researched, in milliseconds. */
const EVERY_MS = 3000;

const SOURCES = 1;

const getReportId = ({ ui }: State): string => topView(ui).id ?? '';
const shownReport = (state: State): ResearchJobDetail | null =>
  state.lists.reports.byId[getReportId(state)] ?? null;
const isEnded = ({ status }: ResearchJobDetail): boolean =>
  ['completed', 'failed', 'cancelled'].includes(status);

const listJobFacts = (job: ResearchJobDetail, now: number): [string, string][] => {
  const { depth, usage, progress, error, report, createdAt } = job;
  const facts: [string, string][] = [
    ['Started', `${timeOfEvent(createdAt, now)}   ${depth}`],
    [
      'Used',
      `${countedNoun(usage.searches, 'search', 'searches')}, ${countedNoun(usage.pages, 'page')}`,
    ],
  ];
  if (!isEnded(job) && progress?.note) facts.push(['Now', progress.note]);
  if (error !== null) facts.push(['Error', error]);
  for (const limitation of report?.limitations ?? []) facts.push(['Limitation', limitation]);
  if (report && report.unverified > 0) {
    facts.push(['Unverified', `${countedNoun(report.unverified, 'sentence')}, each marked`]);
  }
  return facts;
};

type ReportSource = ResearchJobDetail['sources'][number];

/** Outcome of a source: `quoted`, `read`, `found` or `failed`. */
const sourceOutcome = ({ status, used }: ReportSource): string => (used ? 'quoted' : status);

const sources = tableFor<ReportSource>({
  noun: 'source',
  list: 'reports',
  rows: (state) => shownReport(state)?.sources ?? [],
  item: (source) => ({
    id: String(source.n),
    name: source.title,
    words: `${source.url ?? ''} ${sourceOutcome(source)}`,
  }),
  columns: () => [
    numberColumn('N', [3, 4, 0], ({ n }) => `[${n}]`),
    stateColumn('STATE', [7, 8, 1], sourceOutcome),
    column('SOURCE', [20, 50, 0], ({ title }) => title),
    column('FROM', [20, 200, 2], ({ url, error }) => error ?? url ?? 'your knowledge'),
  ],
  empty: ['No sources yet.'],
});

const reportRows = (state: State, job: ResearchJobDetail, width: number): ScreenRow[] => {
  const { report, plan } = job;
  const planned = plan.map(({ query }): [string, string] => ['Search', query]);
  const text = report?.markdown ?? '';
  return [
    ...factRows(listJobFacts(job, state.session.now), width),
    ...(report ? [] : factRows(planned, width)),
    ...(report ? [[], ...markedRows(text, typedMarks(state, text) ?? [], width)] : []),
  ];
};

const reportDetail = detailPage<ResearchJobDetail>({
  name: 'report',
  title: 'Research',
  noun: 'question',
  tabs: ['Report', 'Sources'],
  list: 'reports',
  shown: shownReport,
  head: (_, { question, status, report }) => [
    row(
      tonedSpan('strong', question.replace(/\s+/g, ' ')),
      '   ',
      tonedSpan(findStateTone(status), status),
    ),
    row(report?.model ? `by ${report.model}` : ''),
  ],
  text: reportRows,
  tables: { [SOURCES]: sources },
});

export const reportPage: ScreenPage = {
  ...reportDetail,
  marks: (state, width) => markedAt(reportDetail.text?.(state, width) ?? []),
  opens: (state) => {
    const source = topView(state.ui).tab === SOURCES && sources.chosen(state);
    return source && source.entryId !== null
      ? chunkPlace({ entryId: source.entryId, chunk: 0 })
      : null;
  },
  related: (state) => {
    const job = shownReport(state);
    return job && { page: 'operation', id: job.operationId };
  },
  acts: (state) => {
    const job = shownReport(state);
    if (!job || isEnded(job)) return {};
    return {
      stop: {
        ...actTarget('reports', job.id, 'operations'),
        text: 'Cancel the research',
        line: `adjutant research cancel ${job.id}`,
        doing: 'cancelling…',
        ask: { lines: ['Cancel the research? Sources already read are kept.'] },
        call: ({ research }) => reportDone(research.cancel({ id: job.id }), 'Cancelled'),
      },
    };
  },
  copies: (state) => shownReport(state)?.report?.markdown ?? getReportId(state),
  line: (state) => `adjutant research get ${getReportId(state)}`,
  summary: (state) => {
    const all = shownReport(state)?.sources ?? [];
    const used = all.filter((source) => source.used).length;
    return all.length === 0
      ? ''
      : `${countedNoun(all.length, 'source')}, ${used} quoted   (] shows them)`;
  },
  needs: (state) => {
    const job = shownReport(state);
    const everyMs = job && isEnded(job) ? undefined : EVERY_MS;
    return [{ is: 'list', list: 'reports', of: getReportId(state), ...(everyMs && { everyMs }) }];
  },
};
