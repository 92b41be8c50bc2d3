import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Linear } from '../../tui/linear/linear.js';
import { announcePosition } from '../../tui/linear/readout.js';
import { sparkline } from '../../tui/parts/spark.js';
import { approvalsPage } from '../../tui/screens/approvals.js';
import { overviewPage } from '../../tui/screens/overview/overview.js';
import type { StateAction } from '../../tui/state/state.js';
import {
  aHook,
  aNeed,
  approvalsLoaded,
  hooksLoaded,
  known,
  NOW,
  overviewRead,
  shown,
} from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const told = (id: string, kind: string, secondsAgo: number, hookName?: string): StateAction => ({
  type: 'stream.added',
  name: 'executions',
  entries: [
    {
      number: null,
      at: new Date(NOW - secondsAgo * 1000).toISOString(),
      kind,
      data: { id, hookId: 'hook_01', hookName, event: 'issues.opened', error: null },
    },
  ],
});

describe('overview', () => {
  it('says how it stands, what the day cost, and what needs the person', () => {
    const state = known(overviewRead());
    expect(shown(overviewPage.view, state, 80, 19).slice(0, 12)).to.equal([
      'Health   ok    ready 4d 02:11   database 0.3 ms',
      'Public   -     no address: adjutant tunnel setup',
      'Queue    ok    3 waiting, oldest 0:01   5 of 20 running',
      'Agents   WARN  2 running   1 waiting for you',
      'Today          $1.84 of $10.00   1 agent   612 executions   1 failed   2 unread',
      '',
      'Executions per minute, last hour, peak 8',
      `${'▁'.repeat(59)}█`,
      '',
      'Needs you',
      '> approval  shell.run   UNTRUSTED  08:34 left  it has side effects',
      '',
    ]);
  });

  it('has a row for mailboxes, with the error of one that fails, and leads to it', () => {
    const rowOf = (over: Parameters<typeof overviewRead>[0]) =>
      shown(overviewPage.view, known(overviewRead(over)), 100, 19)[4];
    expect(rowOf({ mailboxes: { total: 2, watched: 1, failing: 0 } })).to.equal(
      'Mail     ok    2 mailboxes   1 watched',
    );
    const mailboxes = { total: 2, watched: 1, failing: 1 };
    const title = 'ada@example.org';
    const box = aNeed({ kind: 'mailbox', id: 'mailaccount_1', title, detail: 'the account fails' });
    expect(rowOf({ mailboxes, needs: [box] })).to.equal(
      'Mail     WARN  1 of 2 mailboxes fails   ada@example.org: the account fails',
    );
    const goal = (kind: 'mailbox' | 'mail', id: string) =>
      overviewPage.opens?.(known(overviewRead({ needs: [aNeed({ kind, id })] })));
    expect(goal('mailbox', 'mailaccount_1')).to.equal({
      ...{ root: 'mail', places: [], selected: 'mailaccount_1', tab: 3 },
    });
    expect(goal('mail', 'sentmail_1')).to.include({
      ...{ root: 'mail', tab: 2, places: [{ page: 'sentmail', id: 'sentmail_1' }] },
    });
  });

  it('says that all is well only where it is known: not of an address never reached', () => {
    const said = (over: Parameters<typeof overviewRead>[0]) => {
      const rows = shown(overviewPage.view, known(overviewRead({ needs: [], ...over })), 80, 19);
      return [rows[1], rows.find((line) => line.startsWith('  Nothing.'))];
    };
    const publicUrl = 'https://hooks.example.org';
    const broken = { name: 'tunnel', status: 'warn' as const, latencyMs: null, detail: 'broken' };
    expect(said({ publicUrl, reach: 'verified' })).to.equal([
      `Public   ok    ${publicUrl}`,
      '  Nothing. All checks pass.',
    ]);
    expect(said({ publicUrl, reach: 'unverified' })).to.equal([
      `Public   WARN  ${publicUrl}   unverified: adjutant tunnel check`,
      '  Nothing.',
    ]);
    expect(said({ publicUrl, reach: 'failed' })[0]).to.equal(
      `Public   WARN  ${publicUrl}   the last check failed: adjutant tunnel check`,
    );
    expect(said({ parts: [broken] })[1]).to.equal('  Nothing.');
  });

  it('tells of each run once, as it is now, and names its hook', () => {
    const state = known([
      ...overviewRead({ needs: [] }),
      ...hooksLoaded([aHook()]),
      told('execution_1', 'success', 9),
      told('execution_1', 'queued', 10, 'github-issues'),
      told('execution_2', 'running', 1, 'github-issues'),
    ]);
    const rows = shown(overviewPage.view, state, 80, 19);
    const live = rows.slice(rows.indexOf('Live') + 1).map((line) => line.replace(/^[\d:]+ +/, ''));
    expect(live).to.equal([
      'running      github-issues     issues.opened',
      'success      github-issues     issues.opened',
    ]);
  });

  it('has three columns where there is room, and no rates where there is little', () => {
    const wide = shown(overviewPage.view, known(overviewRead(), 140, 40), 140, 35);
    expect(wide.find((line) => line.startsWith('Needs you'))).to.match(/Needs you +Live +Agents/);
    const small = shown(overviewPage.view, known(overviewRead(), 60, 16), 60, 11);
    expect(small).to.have.length(11);
    expect(small.join('\n')).to.not.contain('per minute');
  });

  it('gives the name of what needs the person the room, and cuts no hint', () => {
    const need = aNeed({
      ...{ kind: 'stage', id: 'pipeline_01', title: 'Rollout: deploy-to-production' },
      ...{ untrusted: false, detail: `waits for you: adjutant pipelines get ${'x'.repeat(40)}` },
      at: new Date(NOW + 6 * 86_400_000).toISOString(),
    });
    const short = { ...need, kind: 'task' as const, title: 'Rent', detail: 'today' };
    const rows = (width: number, height: number) =>
      shown(
        overviewPage.view,
        known(overviewRead({ needs: [need, short] }), width, height),
        width,
        height,
      )
        .filter((line) => /^[> ] (stage|task) /.test(line))
        .map((line) => line.slice(0, width === 80 ? 80 : 57).trimEnd());
    expect(rows(80, 24)).to.equal([
      '> stage     Rollout: deploy-to-production  6 days left',
      '  task      Rent                           6 days left  today',
    ]);
    expect(rows(120, 36)).to.equal([
      '> stage     Rollout: deploy-to-production  6 days left',
      '  task      Rent                           6 days left',
    ]);
  });

  it('leads to where a need is answered', () => {
    const goals = [
      aNeed(),
      aNeed({ kind: 'failed', id: 'execution_1', hookId: 'hook_01' }),
      aNeed({ kind: 'expiring', id: 'credential_1' }),
      aNeed({ kind: 'memory', id: 'memory_1' }),
    ].map((need) => overviewPage.opens?.(known(overviewRead({ needs: [need] }))));
    expect(goals).to.equal([
      { root: 'approvals', places: [], selected: 'approval_01' },
      {
        root: 'hooks',
        places: [
          { page: 'hook', id: 'hook_01' },
          { page: 'execution', id: 'execution_1', of: 'hook_01' },
        ],
        selected: 'hook_01',
      },
      { root: 'vault', places: [], selected: 'credential_1' },
      null,
    ]);
  });
});

describe('stages that wait', () => {
  const state = (waiting: number) =>
    known([
      ...approvalsLoaded([]),
      ...overviewRead({ needs: [], pipelines: { open: 2, waiting } }),
      { type: 'ui.root', root: 'approvals' },
    ]);

  it('are told of where no call waits for approval', () => {
    const rows = (waiting: number) => shown(approvalsPage.view, state(waiting), 80, 19);
    expect(rows(0)).to.contain('No pending approvals.');
    expect(rows(0).join()).to.not.contain('pipelines');
    expect(rows(1)).to.contain('1 pipeline stage waits for you: g p opens the pipelines');
    expect(rows(2)).to.contain('2 pipeline stages wait for you: g p opens the pipelines');
    expect(approvalsPage.needs(state(0))).to.include({ is: 'overview', everyMs: 10_000 });
  });

  it('are told of in the greeting of the linear desk', () => {
    const said = (waiting: number): string[] => {
      const lines: string[] = [];
      announcePosition({
        known: { store: { get: () => state(waiting) } },
        output: { line: (line: string) => void lines.push(line) },
      } as unknown as Linear);
      return lines.slice(1);
    };
    expect(said(0)).to.equal(['No pending approvals.']);
    expect(said(2)).to.equal([
      'No pending approvals.',
      '2 pipeline stages wait for you. Type pipelines.',
    ]);
  });
});

describe('sparkline', () => {
  it('reaches the top at the peak, in one row or two', () => {
    expect(sparkline([0, 4, 8], 1)).to.equal(['▁▄█']);
    expect(sparkline([0, 8, 16], 2)).to.equal(['  █', '▁██']);
  });
});
