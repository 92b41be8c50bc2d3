import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient, type Operation } from '../../src/client/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import { operationPage } from '../../tui/screens/operations/operation.js';
import { operationsPage } from '../../tui/screens/operations/operations.js';
import { openDeskState } from '../../tui/state/deskstate.js';
import { createNeedHolder } from '../../tui/state/needs.js';
import type { StateAction } from '../../tui/state/state.js';
import { startApp, type TestApp, until, untilMatches } from '../harness/app.js';
import { anOperation, known, listLoaded, NOW, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const here: StateAction = { type: 'ui.root', root: 'operations' };
const heard = (secondsLater: number, over: Partial<Operation> = {}): StateAction => ({
  type: 'operation.heard',
  operation: anOperation(over),
  at: NOW + secondsLater * 1000,
});
const progressed = (done: number, total: number | null = 2000) => ({
  progress: { done, total, unit: 'runs', note: null },
});

describe('operations', () => {
  const rows = [anOperation(), anOperation({ id: 'b', status: 'failed', title: 'Resend' })];

  it('list the newest first, each with how far it is', () => {
    const state = known([...listLoaded('operations', rows), here]);
    expect(shown(operationsPage.view, state, 80, 19).slice(0, 6)).to.equal([
      '  STATE      TITLE                  PROGRESS        LEFT       AGE',
      '> running    Replay of failed runs  [##····]  40 %              1m',
      '  failed     Resend                 [##····]  40 %              1m',
      '',
      'Replay of failed runs   running',
      '[########············]  40 %  800 of 2,000 runs',
    ]);
    expect(operationsPage.summary?.(state)).to.equal(
      '2 operations: 1 running, 0 waiting, 1 failed',
    );
  });

  it('have no full bar if they failed at the end', () => {
    const progress = { done: 9, total: 9, unit: 'chunks', note: null };
    const state = known([
      ...listLoaded('operations', [anOperation({ status: 'failed', title: 'Note', progress })]),
      here,
    ]);
    const lines = shown(operationsPage.view, state, 80, 19);
    expect(lines[1]).to.match(/^> failed +Note +9 chunks +1m$/);
    expect(lines[4]).to.equal('9 of 9 chunks');
  });

  it('show the rate and the time left as the socket tells of them', () => {
    const actions = [heard(0, progressed(200)), heard(5, progressed(800))];
    const state = known([...listLoaded('operations', rows), here, ...actions]);
    const lines = shown(operationsPage.view, state, 80, 19);
    expect(lines[1]).to.match(/\[##····\] {2}40 % {2}10 s {6,}1m$/);
    expect(lines[5]).to.equal('[########············]  40 %  800 of 2,000 runs  120/s  10 s left');
  });

  it('forget the rate of what has ended', () => {
    const ended = { ...progressed(2000), status: 'completed' as const };
    const state = known([here, heard(0, progressed(0)), heard(5, progressed(9)), heard(6, ended)]);
    expect(state.paces).to.equal({});
    expect(shown(operationsPage.view, state, 80, 19)[1]).to.contain('completed');
  });

  it('count what has no known total', () => {
    const row = anOperation(progressed(1200, null));
    const state = known([...listLoaded('operations', [row]), here]);
    expect(shown(operationsPage.view, state, 80, 19)[1]).to.contain('1,200 runs');
  });

  it('are cancelled once that is confirmed, unless they have ended', async () => {
    const state = known([...listLoaded('operations', [anOperation()]), here]);
    const act = operationsPage.acts?.(state).stop;
    expect(act?.ask?.lines).to.equal([
      'Cancel Replay of failed runs? Completed work is not undone.',
    ]);
    const ofKind = (kind: string, id = 'x') => {
      const row = anOperation({ kind, resource: { kind: 'capability', id } });
      return operationsPage.acts?.(known([...listLoaded('operations', [row]), here])).stop?.ask
        ?.lines[0];
    };
    expect(ofKind('capabilities.install')).to.match(/Partial downloads are removed\./);
    expect(ofKind('capabilities.install', 'ollama-x')).to.match(
      /Ollama keeps its partial download/,
    );
    expect(ofKind('capabilities.measure')).to.match(/No speed is stored/);
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (url, init) => {
      asked.push(`${init?.method} ${new URL(String(url)).pathname}`);
      const body = JSON.stringify(anOperation({ ...progressed(800), status: 'cancelled' }));
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    };
    const client = createClient({ url: 'http://127.0.0.1:1', fetch });
    expect(await act?.call(client, '')).to.equal('Cancelled. Last state: 800 of 2,000 runs');
    expect(asked).to.equal(['POST /api/operations/operation_01/cancel']);
    const over = anOperation({ status: 'completed' });
    expect(operationsPage.acts?.(known([...listLoaded('operations', [over]), here]))).to.equal({});
  });

  it('lead to what they are about', () => {
    const state = known([...listLoaded('operations', [anOperation()]), here]);
    expect(operationsPage.related?.(state)).to.include({ root: 'hooks', selected: 'hook_01' });
  });
});

describe('an operation', () => {
  const open = (over: Partial<Operation>, ...more: StateAction[]) =>
    known([
      ...listLoaded('operations', [anOperation(over)]),
      here,
      { type: 'ui.opened', place: { page: 'operation', id: 'operation_01' } },
      ...more,
    ]);
  const over = {
    status: 'failed' as const,
    error: 'no \u001b[2Jroom',
    result: { replayed: 790, reasons: { disabled: 10 } },
    finishedAt: new Date(NOW - 9000).toISOString(),
  };

  it('shows its result and its error, made safe', () => {
    const lines = shown(operationPage.view, open(over), 80, 19);
    const timeless = lines.map((line) => line.replace(/\d\d:\d\d:\d\d/, 'TIME'));
    expect(timeless).to.equal([
      'Replay of failed runs   failed',
      '[########············]  40 %  800 of 2,000 runs',
      '',
      'Kind     hooks.replay',
      'About    hook hook_01',
      'Started  TIME   took 0:50',
      'Note     790 replayed, 10 skipped',
      'Error    no \\x1b[2Jroom',
      '',
      'Result',
      'replayed  790',
      'reasons   {"disabled":10}',
    ]);
  });

  it('is shown as JSON by v, and says when it is gone', () => {
    const raw = open(over, { type: 'ui.looked', change: { isRaw: true } });
    expect(shown(operationPage.view, raw, 80, 19)[3]).to.equal('{');
    const gone = known([
      ...listLoaded('operations', []),
      here,
      { type: 'ui.opened', place: { page: 'operation', id: 'x' } },
    ]);
    expect(shown(operationPage.view, gone, 80, 19)[0]).to.contain('operation no longer exists');
  });
});

describe('operations on a daemon', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  it('are there as soon as they begin, and go to their end by themselves', async () => {
    const { token } = await app.register('ada');
    const size = { width: 80, height: 24 };
    const desk = openDeskState({ url: app.url, token, size, clock: systemClock });
    desk.store.dispatch(here);
    const running = desk.run();
    const statuses = async () =>
      Object.values(desk.store.get().lists.operations.byId).map(({ status }) => status);
    await untilMatches(async () => desk.store.get().session.link.is, 'live');
    // The list is loaded once, so that only the socket can report an operation.
    const needs = operationsPage.needs(desk.store.get());
    createNeedHolder(desk)(
      needs.map((need) => (need.is === 'list' ? { is: 'list', list: need.list } : need)),
    );
    await until(
      async () => desk.store.get().lists.operations.loadedAt,
      (at) => at !== null,
    );
    await desk.client.knowledge.create({ body: { text: 'The staging server is argon.' } });
    await until(statuses, (all) => all.includes('completed'));
    desk.close();
    await running;
  });
});
