import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Announcement } from '../../../tui/linear/announcement.js';
import { createLinearListener } from '../../../tui/linear/listener.js';
import { reduce, type State, type StateAction } from '../../../tui/state/state.js';
import {
  agentsLoaded,
  aNeed,
  anAgent,
  anApproval,
  approvalsLoaded,
  known,
  NOW,
  overviewRead,
} from '../fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const later = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString();

/** News after each action, given the earlier ones. */
const hears = (before: StateAction[], ...actions: StateAction[]): string[][] => {
  const ear = createLinearListener(new Announcement());
  let state: State = known(before);
  ear.hear(state);
  return actions.map((action) => {
    state = reduce(state, action);
    return ear.hear(state).map(({ text, weight }) => `${weight}: ${text}`);
  });
};

const put = (row: ReturnType<typeof anApproval>): StateAction => ({
  type: 'list',
  name: 'approvals',
  change: { do: 'put', row, isBelow: true },
});
const ran = (id: string, kind: string, at: string): StateAction => ({
  type: 'stream.added',
  name: 'executions',
  entries: [{ number: null, at, kind, data: { id, hookName: 'issues', event: 'opened' } }],
});

describe('what is told in between', () => {
  it('is who asks, by name and by a number for good, once', () => {
    const second = anApproval({ id: 'approval_02', createdAt: later(5) });
    const before = [...agentsLoaded([anAgent()]), ...approvalsLoaded([anApproval()])];
    expect(
      hears(before, put(second), put(second), put({ ...anApproval(), status: 'denied' })),
    ).to.equal([
      ['rings: triage-412 requests approval: shell.run, UNTRUSTED, number 2. Type: approvals 2'],
      [],
      ['heard: Approval 1, shell.run: denied.'],
    ]);
  });

  it('is what came of runs since one listens, not what came before', () => {
    expect(
      hears(
        [],
        ran('execution_1', 'success', later(-5)),
        ran('execution_2', 'running', later(1)),
        ran('execution_2', 'success', later(2)),
      ),
    ).to.equal([[], [], ['heard: issues: opened, success']]);
  });

  it('rings for what else needs somebody', () => {
    const failed = aNeed({ kind: 'failed', id: 'execution_1', title: 'deploy', detail: '502' });
    const [read] = overviewRead({ needs: [aNeed(), failed] });
    if (!read) throw new Error('Nothing was read');
    expect(hears(overviewRead(), read)).to.equal([['rings: failed: deploy, 502']]);
  });

  it('is the daemon that is lost and back, each once, and a login that has ended', () => {
    const lost = (attempt: number): StateAction => ({
      type: 'session.linked',
      link: { is: 'lost', since: NOW, attempt, nextAt: NOW, reason: 'connection refused' },
    });
    const heard = hears(
      [],
      lost(1),
      lost(2),
      { type: 'session.linked', link: { is: 'live' } },
      { type: 'session.linked', link: { is: 'refused', reason: 'The session has ended' } },
    );
    expect(
      heard.map((news) => news.map((text) => text.replace(/\d\d:\d\d:\d\d/, 'TIME'))),
    ).to.equal([
      [
        'always: Connection lost at TIME: connection refused. Retrying. On this machine: adjutant up',
      ],
      [],
      ['always: Connection restored at TIME. The data was reloaded.'],
      ['rings: The session has ended. Type login, or run: adjutant login'],
    ]);
  });

  it('is what agents come to, but not that one waits', () => {
    const at = (status: 'running' | 'waiting_approval' | 'completed'): StateAction => ({
      type: 'list',
      name: 'agents',
      change: { do: 'put', row: anAgent({ status }) },
    });
    expect(
      hears(
        agentsLoaded([anAgent({ status: 'queued' })]),
        at('running'),
        at('waiting_approval'),
        at('completed'),
      ),
    ).to.equal([['heard: triage-412: running'], [], ['heard: triage-412: completed']]);
  });
});
