import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Client, createClient, type PipelineRun } from '../../src/client/index.js';
import type { Controller } from '../../tui/control/controller.js';
import { dispatchKey } from '../../tui/control/dispatch.js';
import { hintsView } from '../../tui/frame/bars.js';
import { plainRowText } from '../../tui/parts/row.js';
import { noticeTarget } from '../../tui/screens/inbox.js';
import { overviewPage } from '../../tui/screens/overview/overview.js';
import { runPage } from '../../tui/screens/pipelines/run.js';
import { pipelinesPage, runsPage } from '../../tui/screens/pipelines/runs.js';
import { loaders } from '../../tui/state/loaders.js';
import { runPlace } from '../../tui/state/locations.js';
import type { RunItem, StageItem } from '../../tui/state/pipelineruns.js';
import { createRefresh } from '../../tui/state/refresh.js';
import { reduce, type State, type StateAction } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { topView } from '../../tui/state/ui.js';
import { frozenClock } from '../harness/clock.js';
import { runLoopTurns } from '../harness/turns.js';
import { aNeed, known, listLoaded, NOW, overviewRead, quietFeed, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const DIGEST = '4f2a91c0'.padEnd(64, '0');
const OTHER = '77777777'.padEnd(64, '0');
const aMinuteAgo = new Date(NOW - 60_000).toISOString();

const aRun = (over: Partial<PipelineRun> = {}): PipelineRun => ({
  ...{ id: 'pipeline_01', orgId: null, parentId: null, parentKey: null, itemAt: null },
  ...{ templateId: 'template_01', templateVersion: 1, name: 'Release', params: {} },
  ...{ status: 'waiting', untrusted: false, usage: { tokens: 10, costUsd: 0.02 }, error: null },
  ...{ createdAt: aMinuteAgo, startedAt: aMinuteAgo, finishedAt: null },
  ...over,
});

const aStage = (key: string, over: Partial<StageItem> = {}): StageItem => ({
  ...{ id: key, key, name: key, kind: 'tool', needs: [], status: 'completed', reason: null },
  ...{ attempt: 1, visits: 1, agentId: null, operationId: null, digest: null },
  ...{ input: null, output: null, error: null, untrusted: false, dueAt: null, run: aRun() },
  ...{ startedAt: aMinuteAgo, finishedAt: new Date(NOW - 59_000).toISOString() },
  ...over,
});

const waits = { status: 'waiting_approval' as const, finishedAt: null };
const asking = (over: Partial<StageItem> = {}): StageItem =>
  aStage('approve', {
    ...{ kind: 'approval', needs: ['draft'], digest: DIGEST, input: { message: 'Publish it?' } },
    ...waits,
    ...over,
  });
const STAGES = [
  aStage('draft'),
  asking(),
  aStage('publish', {
    ...{ status: 'pending', needs: ['approve', 'draft'], startedAt: null, finishedAt: null },
  }),
];
const briefs = STAGES.map(({ key, kind, status, reason }) => ({ key, kind, status, reason }));
const anItem = (over: Partial<RunItem> = {}): RunItem => ({ ...aRun(), stages: briefs, ...over });

const root: StateAction = { type: 'ui.root', root: 'pipelines' };
const opened = (stages: StageItem[], selected?: string): StateAction[] => [
  root,
  { type: 'ui.opened', place: runPlace('pipeline_01', selected) },
  ...listLoaded('stages', stages, 'pipeline_01'),
];
const select = (selected: string): StateAction => ({ type: 'ui.looked', change: { selected } });
const lines = (state: State, width = 80) => shown(runPage.view, state, width, 19);

/** Keys on a desk whose daemon records requests. */
/** Time between two loads of a list. */
const GAP_MS = 400;

const openDesk = (actions: StateAction[]) => {
  const asked: string[] = [];
  const left: string[] = [];
  const clock = frozenClock(NOW);
  const store = createStore(reduce, known(actions));
  const fetch: typeof globalThis.fetch = async (url, init) => {
    asked.push(`${init?.method} ${new URL(String(url)).pathname} ${init?.body}`);
    const body = JSON.stringify({ ...aRun({ status: 'running' }), stages: [] });
    return new Response(body, { headers: { 'content-type': 'application/json' } });
  };
  const client = createClient({ url: 'http://127.0.0.1:1', fetch });
  const leave = async (words: readonly string[]) => void left.push(words.join(' '));
  const hands = { client, store, feed: quietFeed(), clock, outside: { leave } };
  const press = (isBurst: boolean, ...keys: string[]): void => {
    for (const key of keys) {
      dispatchKey(hands as unknown as Controller, { type: 'key', key, isBurst });
    }
  };
  return { asked, left, clock, store, press, settled: runLoopTurns };
};

describe('the screen of pipelines', () => {
  const rows = [
    anItem(),
    anItem({ id: 'b', name: 'Notes', status: 'failed', error: 'No model is up', stages: null }),
  ];
  const listed = (...more: StateAction[]) =>
    known([...listLoaded('runs', rows), root, ...more], 80, 24);

  it('lists what each run waits for, how far it is, and why it failed', () => {
    const state = listed();
    expect(shown(pipelinesPage.view, state, 80, 19).slice(0, 3)).to.equal([
      '  STATE      NAME            STAGES  NOW                          AGE',
      '> waiting    Release            1/3  approve waits for approval    1m',
      '  failed     Notes                   No model is up                1m',
    ]);
    expect(pipelinesPage.summary?.(state)).to.equal('2 runs: 0 running, 1 waiting, 1 failed');
  });

  it('shows the stages of the selected run as a tree', () => {
    const state = listed(...listLoaded('stages', STAGES, 'pipeline_01'));
    expect(shown(pipelinesPage.view, state, 80, 19).slice(4)).to.equal([
      'Release   waiting   template_01   $0.02',
      '',
      'draft  + completed',
      '└ approve  ? waiting_approval',
      '  └ publish  . pending',
    ]);
  });

  it('has the same columns beside the stages, and shows what each waits for', () => {
    const state = known(
      [...listLoaded('runs', [anItem({ name: 'Rollout of the staging servers' })]), root],
      120,
      36,
    );
    const rows = shown(pipelinesPage.view, state, 120, 31).slice(0, 2);
    expect(rows.map((row) => row.slice(0, 72).trimEnd())).to.equal([
      '  STATE      NAME               STAGES  NOW                          AGE',
      '> waiting    Rollout of the s…     1/3  approve waits for approval    1m',
    ]);
  });

  it('does not take the stages of another run for those of the selected one', () => {
    const state = listed(...listLoaded('stages', STAGES, 'pipeline_77'));
    expect(shown(pipelinesPage.view, state, 80, 19)).to.not.contain('draft  + completed');
  });

  it('is opened by g and p, and opens a run at the stage that waits', () => {
    const { store, press } = openDesk(listLoaded('runs', rows));
    press(false, 'g', 'p', 'enter');
    const { page, id, selected } = topView(store.get().ui);
    expect([page, id, selected]).to.equal(['run', 'pipeline_01', 'approve']);
  });

  it('stops a run that goes on, retries one that has ended, each after a question', async () => {
    const acts = (id: string) => Object.keys(pipelinesPage.acts?.(listed(select(id))) ?? {});
    expect([acts('pipeline_01'), acts('b')]).to.equal([['stop'], ['replay']]);
    const { press, clock, asked, settled, left } = openDesk([
      ...listLoaded('runs', rows),
      root,
      select('b'),
    ]);
    press(false, 'r', 'y');
    await settled();
    expect(asked).to.equal([]);
    clock.forward(700);
    press(false, 'y');
    await settled();
    expect(asked).to.equal(['POST /api/pipelines/b/retry {}']);
    press(false, 'a');
    expect(left).to.equal(['pipelines run']);
  });

  it('lists the runs that a stage has begun, and no others', () => {
    const items = [
      anItem({ id: 'c', parentId: 'pipeline_01', parentKey: 'each', name: 'One' }),
      anItem({ id: 'd', parentId: 'pipeline_01', parentKey: 'other', name: 'Two' }),
    ];
    const each = aStage('each', { kind: 'foreach' });
    const place = runPage.opens?.(known(opened([each])));
    expect(place).to.equal({ page: 'runs', id: 'each', of: 'pipeline_01' });
    if (!place || 'root' in place) throw new Error('no place');
    const below = listLoaded('runs', items, 'pipeline_01');
    const state = known([root, { type: 'ui.opened', place }, ...below]);
    expect(runsPage.items?.(state).map(({ name }) => name)).to.equal(['One']);
    expect(runsPage.needs(state)[0]).to.include({ list: 'runs', of: 'pipeline_01' });
    // They do not belong to the list of all runs.
    expect(pipelinesPage.items?.(known([root, ...below]))).to.equal([]);
  });
});

describe('a run on the desk', () => {
  it('draws its stages as a tree, with a sign and a word for each state', () => {
    const state = known(opened(STAGES, 'approve'));
    expect(lines(state).slice(0, 4)).to.equal([
      '  STAGE         STATE               KIND      TOOK  REASON',
      '  draft         + completed         tool      0:01',
      '> └ approve     ? waiting_approval  approval  1:00',
      '    └ publish   . pending           tool            also needs draft',
    ]);
    expect(lines(state).slice(5, -1)).to.contain(['Request', 'Publish it?', `Digest   ${DIGEST}`]);
    expect(runPage.summary?.(state)).to.equal(
      'Release: waiting, 1 of 3 stages done, 1 waits for you, $0.02',
    );
  });

  it('cuts no name of a nested stage while there is room, beside its details or above', () => {
    const keys = ['collect', 'check-the-changes', 'deploy-to-staging', 'deploy-to-production'];
    const chain = keys.map((key, at) => aStage(key, { needs: keys.slice(at - 1, at) }));
    const state = known(opened(chain), 120, 36);
    const names = [
      'collect',
      '└ check-the-changes',
      '  └ deploy-to-staging',
      '    └ deploy-to-production',
    ];
    for (const width of [80, 120]) {
      const rows = shown(runPage.view, state, width, 31).slice(1, 5);
      expect(rows.map((row) => row.slice(2, 30).trimEnd())).to.equal(names);
    }
    const long = Array.from({ length: 20 }, (_, at) => `stage-${at}`);
    const deep = long.map((key, at) => aStage(key, { needs: long.slice(at - 1, at) }));
    const last = shown(runPage.view, known(opened(deep), 120, 36), 120, 31)[20] ?? '';
    expect(last.slice(2, 28)).to.equal(`…${' '.repeat(13)}└ stage-19  `);
  });

  it('says in the footer that x denies, where a stage waits for approval, and stops elsewhere', () => {
    const keys = (selected: string) => {
      const [hints = []] = hintsView(known(opened(STAGES, selected)), { width: 80, height: 1 });
      return /x \w+(, \w+)?/.exec(plainRowText(hints))?.[0];
    };
    expect(['approve', 'draft'].map(keys)).to.equal(['x deny', 'x stop']);
  });

  it('shows without colour that the keys act on the details', () => {
    const state = (...more: StateAction[]) =>
      known([...opened(STAGES, 'approve'), ...more], 120, 36);
    const [list, detail] = [state(), state({ type: 'ui.looked', change: { pane: 1 } })];
    const lines = (of: State, width: number): string[] => shown(runPage.view, of, width, 19);
    const marked = (of: State, width: number): string[] =>
      lines(of, width).filter((line) => /^[>-]/.test(line));
    expect(marked(list, 80).map((line) => line.slice(0, 11))).to.equal(['> └ approve']);
    expect(marked(detail, 80).map((line) => line.slice(0, 11))).to.equal([
      '- └ approve',
      '> details: ',
    ]);
    expect(lines(list, 120)[0]?.slice(73)).to.match(/^│ approve /);
    expect(lines(detail, 120)[0]?.slice(73)).to.match(/^> approve /);
    expect(marked(detail, 120).map((line) => line.slice(0, 11))).to.equal(['- └ approve']);
  });

  it('shows why a stage failed, how often it was tried, and its output', () => {
    const failed = aStage('each', {
      ...{ kind: 'foreach', status: 'failed', error: 'Item 2: no answer', attempt: 2, visits: 3 },
      output: { items: 3, completed: 2, failed: 1 },
    });
    const rows = runPage.text?.(known(opened([failed])), 80) ?? [];
    expect(rows.map((each) => plainRowText(each).trimEnd())).to.contain([
      'each   ! failed',
      'Error    Item 2: no answer',
      'Attempt  2',
      'Visits   3',
      '  "failed": 1',
    ]);
  });

  it('leads to its agent and to its operation', () => {
    const related = (over: Partial<StageItem>) =>
      runPage.related?.(known(opened([aStage('draft', over)])));
    expect(related({ agentId: 'agent_01' })).to.include({ root: 'agents', selected: 'agent_01' });
    expect(related({ operationId: 'operation_01' })).to.include({ root: 'operations' });
    expect(related({})).to.be.null();
  });

  it('is what the overview and a notification lead to', () => {
    const need = aNeed({ kind: 'stage', id: 'pipeline_01', title: 'A: release: approve' });
    const place = { page: 'run', id: 'pipeline_01', selected: 'approve' };
    expect(overviewPage.opens?.(known(overviewRead({ needs: [need] })))).to.include({
      root: 'pipelines',
      places: [place],
    });
    for (const link of ['/pipelines/pipeline_01', '/pipelines/pipeline_01#approve']) {
      expect(noticeTarget({ link })).to.include({ root: 'pipelines', selected: 'pipeline_01' });
    }
    expect(noticeTarget({ link: '/api/pipelines/pipeline_01' })).to.include({ root: 'pipelines' });
  });

  it('is approved by A and y with the digest that was shown, and with nothing less', async () => {
    const { press, asked, settled, clock, store } = openDesk(opened(STAGES, 'approve'));
    press(true, 'A', 'y');
    expect(store.get().ui.sheet).to.be.null();
    press(false, 'A');
    expect(store.get().ui.sheet?.act.ask?.lines).to.equal([
      'Approve approve 4f2a91c0 of Release, exactly as shown?',
      '| Publish it?',
    ]);
    press(false, 'y');
    clock.forward(700);
    press(true, 'y');
    press(false, 'enter');
    await settled();
    expect(asked).to.equal([]);
    press(false, 'A');
    clock.forward(700);
    press(false, 'y');
    await settled();
    expect(asked).to.equal([
      `POST /api/pipelines/pipeline_01/stages/approve/approve {"digest":"${DIGEST}"}`,
    ]);
    expect(store.get().ui.message?.text).to.equal('Approved approve of Release');
  });

  it('is not approved if what is asked has changed, or was answered, meanwhile', async () => {
    for (const change of [{ digest: OTHER }, { status: 'completed' as const, digest: null }]) {
      const { press, asked, settled, clock, store } = openDesk(opened(STAGES, 'approve'));
      press(false, 'A');
      clock.forward(700);
      const row = asking(change);
      store.dispatch({ type: 'list', name: 'stages', change: { do: 'put', row } });
      press(false, 'y');
      await settled();
      expect(asked).to.equal([]);
      expect(store.get().ui.message?.text).to.match(/^It was decided or changed/);
    }
  });

  it('shows a call whole, and a long one only counts once it was read to its end', () => {
    const ask = (stage: StageItem, ...more: StateAction[]) =>
      runPage.acts?.(known([...opened([stage]), ...more])).approve;
    const call = asking({ input: { argv: ['npm', 'test'] }, kind: 'tool' });
    expect(ask(call)?.ask?.lines.slice(1)).to.equal([
      '| {',
      '|   "argv": [',
      '|     "npm",',
      '|     "test"',
      '|   ]',
      '| }',
    ]);
    const long = asking({ input: { message: Array(40).fill('a line').join('\n') } });
    expect(ask(long)?.refusal).to.equal('Scroll to the end first: tab, then j');
    expect(ask(long, { type: 'ui.looked', change: { scroll: 200 } })?.refusal).to.be.undefined();
    expect(ask(long, { type: 'approval.seen', digest: DIGEST })?.refusal).to.be.undefined();
    expect(ask(long, { type: 'approval.seen', digest: OTHER })?.refusal).to.not.be.undefined();
    const huge = asking({ input: { message: 'a'.repeat(300_000) } });
    expect(ask(huge, { type: 'approval.seen', digest: DIGEST })?.refusal).to.match(/^Too long/);
  });

  it('cuts nothing of a long line, and makes what is invisible visible', () => {
    const message = `${'word '.repeat(1500)}THE END\u202e`;
    const rows = runPage.text?.(known(opened([asking({ input: { message } })])), 80) ?? [];
    const text = rows.map(plainRowText).join(' ');
    expect(text).to.contain('THE END');
    expect(text).to.not.contain('\u202e');
  });

  it('is denied by x where it asks, and stopped by x elsewhere, after a question', async () => {
    for (const [selected, path] of [
      ['approve', 'stages/approve/reject'],
      ['draft', 'stop'],
    ] as const) {
      const { press, asked, settled, clock, store } = openDesk(opened(STAGES, selected));
      press(false, 'x');
      expect(store.get().ui.sheet?.act.ask?.lines[0]).to.match(/^(Deny approve|Stop the run)/);
      clock.forward(700);
      press(false, 'y');
      await settled();
      expect(asked.map((each) => each.split(' ')[1])).to.equal([
        `/api/pipelines/pipeline_01/${path}`,
      ]);
    }
  });

  it('is answered on the command line where it asks for values', () => {
    const form = aStage('title', { ...waits, status: 'waiting_input', digest: DIGEST });
    const { press, left } = openDesk(opened([form]));
    press(false, 'A', 'i');
    expect(left).to.equal(['pipelines input pipeline_01 title']);
  });
});

describe('the runs of pipelines', () => {
  it('are read with the stages of those that are under way', async () => {
    const got: unknown[] = [];
    const client = {
      pipelines: {
        list: async () => ({
          pipelines: [aRun(), aRun({ id: 'b', status: 'completed' })],
          nextCursor: null,
        }),
        get: async ({ id }: { id: string }) => {
          got.push(id);
          return { ...aRun({ id }), stages: STAGES };
        },
      },
    } as unknown as Client;
    const { rows } = await loaders.runs.page(client, { of: null });
    expect(got).to.equal(['pipeline_01']);
    expect(rows.map(({ stages }) => stages)).to.equal([briefs, null]);
    const { rows: stages } = await loaders.stages.page(client, { of: 'pipeline_01' });
    expect(stages.map(({ id, run }) => `${run.id} ${id}`)).to.equal([
      'pipeline_01 draft',
      'pipeline_01 approve',
      'pipeline_01 publish',
    ]);
    expect((await loaders.stages.page(client, { of: null })).rows).to.equal([]);
  });

  it('are loaded again once for many changes, and once more for what came meanwhile', async () => {
    const loads: string[] = [];
    const clock = frozenClock(NOW);
    let isWanted = true;
    const { soon, close } = createRefresh({
      clock,
      reload: async (name) => void loads.push(name),
      isWanted: () => isWanted,
    });
    for (let at = 0; at < 20; at++) soon('runs');
    expect(loads).to.equal(['runs']);
    await clock.waiting(GAP_MS);
    clock.forward(GAP_MS);
    expect(loads).to.equal(['runs', 'runs']);
    isWanted = false;
    await clock.waiting(GAP_MS);
    clock.forward(GAP_MS);
    soon('runs');
    expect(loads.length).to.equal(2);
    close();
  });
});
