import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Client, type Credential, createClient } from '../../src/client/index.js';
import { sheetView } from '../../tui/frame/sheets.js';
import { browsePage } from '../../tui/screens/browse.js';
import { inboxPage, noticeTarget } from '../../tui/screens/inbox.js';
import { teamPage } from '../../tui/screens/team.js';
import { vaultPage } from '../../tui/screens/vault.js';
import { pages } from '../../tui/screens.js';
import { findPaletteMatches } from '../../tui/state/palette.js';
import { type BrowsedRow, readResourceRows } from '../../tui/state/resources.js';
import { reduce, type StateAction } from '../../tui/state/state.js';
import {
  aCredential,
  aNotification,
  inboxLoaded,
  known,
  NOW,
  shown,
  vaultLoaded,
} from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const days = (count: number): string => new Date(NOW + count * 86_400_000).toISOString();
const at = (root: 'inbox' | 'vault' | 'team'): StateAction => ({ type: 'ui.root', root });

describe('inbox', () => {
  const rows = [aNotification(), aNotification({ id: 'b', readAt: days(0), title: 'done' })];
  const state = known([...inboxLoaded(rows), at('inbox')]);

  it('lists what was told, and shows the chosen one whole', () => {
    const lines = shown(inboxPage.view, state, 80, 19);
    expect(lines[1]?.replace(/\d\d:\d\d:\d\d/, 'TIME')).to.equal(
      '> new    TIME  hook failed  deploy-notify failed: 502 from the target',
    );
    expect(lines.at(-1)).to.equal('502 from the target');
    expect(inboxPage.summary?.(state)).to.equal('1 unread of 2 loaded');
  });

  it('opens what it links to', () => {
    const goals = [
      '/agents/agent_1',
      '/approvals/approval_1',
      '/approvals?agentId=agent_1',
      '/executions/execution_1',
      '/tasks?due=overdue',
      '/device',
      // From the time before the web page.
      '/api/agents/agent_1',
      '/api/vault/credential_1',
      '/api/chat/approvals/approval_1',
      '/api/hooks/hook_1/executions',
      '/api/channels',
      null,
    ].map((link) => noticeTarget({ link }));
    expect(goals).to.equal([
      { root: 'agents', places: [{ page: 'agent', id: 'agent_1' }], selected: 'agent_1' },
      { root: 'approvals', places: [], selected: 'approval_1' },
      { root: 'approvals', places: [], selected: '' },
      { root: 'hooks', places: [{ page: 'execution', id: 'execution_1' }] },
      { root: 'tasks', places: [], selected: '' },
      null,
      { root: 'agents', places: [{ page: 'agent', id: 'agent_1' }], selected: 'agent_1' },
      { root: 'vault', places: [], selected: 'credential_1' },
      { root: 'approvals', places: [], selected: 'approval_1' },
      { root: 'hooks', places: [{ page: 'hook', id: 'hook_1' }], selected: 'hook_1' },
      null,
      null,
    ]);
  });

  it('marks one, or all', () => {
    expect(Object.keys(inboxPage.acts?.(state) ?? {})).to.equal(['mark', 'mark-all']);
    const read = known([...inboxLoaded([aNotification({ readAt: days(0) })]), at('inbox')]);
    expect(inboxPage.acts?.(read)).to.equal({});
  });
});

describe('vault', () => {
  it('says that a filter leaves nothing, and not that there is nothing', () => {
    const filter: StateAction = { type: 'ui.looked', change: { filter: 'zzz' } };
    const lines = (rows: Credential[]) =>
      shown(vaultPage.view, known([...vaultLoaded(rows), at('vault'), filter]), 80, 19);
    expect(lines([aCredential()]).slice(0, 2)).to.equal([
      'No credentials match /zzz.',
      '  esc  clear the filter',
    ]);
    expect(lines([])[0]).to.equal('No credentials yet.');
  });

  it('is loud about what ends', () => {
    const rows = [
      aCredential({ id: 'a', expiresAt: days(3) }),
      aCredential({ id: 'b', expiresAt: days(-1) }),
      aCredential({ id: 'c' }),
    ];
    const state = known([...vaultLoaded(rows), at('vault')]);
    const lines = shown(vaultPage.view, state, 80, 19).slice(1, 4);
    expect(lines.map((line) => line.slice(33, 44).trim())).to.equal([
      'IN 3 DAYS',
      'EXPIRED',
      'never',
    ]);
  });

  it('shows a new value once, in a sheet', () => {
    const secret = { title: 'New value of github-pat', value: 'x'.repeat(100) };
    const state = known([at('vault'), { type: 'ui.secret', secret }]);
    expect(shown(sheetView, state, 80, 4).slice(1)).to.equal([
      'New value of github-pat',
      `  ${'x'.repeat(78)}`,
      `  ${'x'.repeat(22)}`,
    ]);
  });
});

describe('browser', () => {
  const fields = { id: 'webhook_1', url: 'https://a.example', enabled: true, createdAt: days(-2) };
  const verbs = [
    { name: 'test', summary: 'Send a test', isDelete: false },
    { name: 'delete', summary: 'Delete it', isDelete: true },
  ];
  const open = (of: string, rows: BrowsedRow[]) =>
    known([
      { type: 'ui.opened', place: { page: 'browse', id: null, of } },
      { type: 'list', name: 'things', change: { do: 'ask', of, generation: 9, at: NOW } },
      {
        type: 'list',
        name: 'things',
        change: { do: 'load', generation: 9, rows, nextCursor: null, at: NOW },
      },
    ]);
  const state = open('webhooks', [{ id: 'webhook_1', name: 'https://a.example', fields, verbs }]);

  it('shows any resource by its fields', () => {
    expect(shown(browsePage.view, state, 80, 19)).to.equal([
      '  NAME               STATE      AGE  ID',
      '> https://a.example  enabled     2d  webhook_1',
      '',
      'https://a.example',
      'id         webhook_1',
      'url        https://a.example',
      'enabled    true',
      `createdAt  ${days(-2)}`,
    ]);
  });

  const repeated = (name: string, over: Record<string, unknown>): BrowsedRow => ({
    ...{ id: `recurring_${name}`, name, verbs: [] },
    fields: {
      ...{ id: `recurring_${name}`, title: name, action: 'notify', enabled: true, runCount: 0 },
      schedule: { cron: '0 9 * * 1-5', timezone: 'Asia/Tokyo' },
      ...{ actionConfig: { notifyMessage: 'Stand up' }, lastError: null, lastStatus: null },
      ...{ nextRunAt: '2026-03-02T00:00:00.000Z', lastRunAt: null, createdAt: days(-2) },
      ...over,
    },
  });
  const rule = { rrule: 'FREQ=DAILY', timezone: 'Asia/Tokyo' };
  const failing = { lastRunAt: days(-3), lastStatus: 'error', runCount: 4 };
  const recurring = open('recurring', [
    repeated('standup', {}),
    repeated('report', { ...failing, schedule: rule }),
    repeated('old', { enabled: false, nextRunAt: null }),
  ]);

  it('shows the schedule of a recurring task, and when it runs', () => {
    expect(shown(browsePage.view, recurring, 80, 24)).to.equal([
      '  NAME      STATE     SCHEDULE     NEXT                   LAST   RUNS',
      '> standup   enabled   0 9 * * 1-5  Mon 2 Mar 09:00 GMT+9  never     0',
      '  report    failing   FREQ=DAILY   Mon 2 Mar 09:00 GMT+9  3d        4',
      '  old       disabled  0 9 * * 1-5                         never     0',
      '',
      'standup',
      'state          enabled',
      'schedule       0 9 * * 1-5 (Asia/Tokyo)',
      'next           Mon 2 Mar 09:00 GMT+9',
      'last           never',
      'runs           0',
      'id             recurring_standup',
      'action         notify',
      'createdAt      Fri 27 Feb 21:00 GMT+9',
      'notifyMessage  Stand up',
    ]);
    const wide = shown(browsePage.view, recurring, 120, 24).slice(0, 2);
    expect(wide.map((line) => line.slice(0, 72).trimEnd())).to.equal([
      '  NAME      STATE     SCHEDULE     NEXT                   LAST   RUNS',
      '> standup   enabled   0 9 * * 1-5  Mon 2 Mar 09:00 GMT+9  never     0',
    ]);
  });

  it('enables and disables a recurring task', async () => {
    const asked: unknown[] = [];
    const client = { recurring: { update: async (input: unknown) => void asked.push(input) } };
    const texts = await Promise.all(
      ['recurring_standup', 'recurring_old'].map((selected) => {
        const looked = reduce(recurring, { type: 'ui.looked', change: { selected } });
        const [act] = browsePage.verbs?.(looked) ?? [];
        void act?.call(client as unknown as Client, '');
        return act?.line;
      }),
    );
    expect(texts).to.equal([
      'adjutant recurring disable recurring_standup',
      'adjutant recurring enable recurring_old',
    ]);
    expect(asked).to.equal([
      { id: 'recurring_standup', body: { enabled: false } },
      { id: 'recurring_old', body: { enabled: true } },
    ]);
  });

  it('offers the verbs of its contract in the palette, and asks for each', () => {
    const found = findPaletteMatches(state, browsePage, pages, 'a.example');
    expect(found.map(({ line }) => line)).to.equal([
      'adjutant webhooks test webhook_1',
      'adjutant webhooks delete webhook_1',
    ]);
    const asked = browsePage.verbs?.(state).map(({ ask }) => ask?.name);
    expect(asked).to.equal([undefined, 'https://a.example']);
    expect(
      findPaletteMatches(state, browsePage, pages, 'browse skills').map(({ line }) => line),
    ).to.equal(['adjutant skills list']);
  });

  it('leaves for the forms of the CLI, where there are some', () => {
    const leaves = (of: string, source?: string) =>
      browsePage.leaves?.(open(of, [{ id: 'x', name: 'x', fields: { source }, verbs: [] }]));
    expect(leaves('webhooks')).to.equal({
      add: ['webhooks', 'create'],
      edit: ['webhooks', 'update', 'x'],
    });
    expect(leaves('experts', 'custom')).to.include({ edit: ['experts', 'update', 'x'] });
    expect(leaves('experts', 'system')).to.equal({ add: ['experts', 'create'] });
    expect(leaves('channels')).to.equal({ add: ['channels', 'link'] });
    expect(leaves('recurring')).to.equal({
      add: ['recurring', 'create'],
      edit: ['recurring', 'update', 'x'],
    });
    expect(leaves('sessions')).to.equal({});
    const empty = (of: string) =>
      shown(browsePage.view, open(of, []), 80, 19).map((line) => line.trim());
    expect(empty('recurring')).to.include('a  create one     adjutant recurring create');
    expect(empty('sessions').filter((line) => line !== '')).to.equal(['No entries.']);
  });

  it('reads the list and the verbs from the contract', async () => {
    const body = JSON.stringify({ webhooks: [fields], nextCursor: null });
    const fetch = async () =>
      new Response(body, { headers: { 'content-type': 'application/json' } });
    const client = createClient({ url: 'http://127.0.0.1:1', fetch });
    const { rows } = await readResourceRows(client, 'webhooks', { limit: 50 });
    expect(rows.map(({ id, name }) => [id, name])).to.equal([['webhook_1', 'https://a.example']]);
    expect(rows[0]?.verbs.map(({ name }) => name)).to.equal(['delete', 'test']);
  });
});

describe('team', () => {
  it('shows admins the others, and others their own', () => {
    expect(shown(teamPage.view, known([at('team')]), 80, 19)[0]).to.equal(
      '[Users] Audit Sessions Tokens Organizations',
    );
    const who = { username: 'bob', role: 'user' as const };
    const state = known([{ type: 'session.known', who }, at('team')]);
    expect(shown(teamPage.view, state, 80, 19)[0]).to.equal('[Sessions] Tokens Organizations');
    expect(teamPage.needs(state)).to.equal([{ is: 'list', list: 'logins' }]);
  });
});
