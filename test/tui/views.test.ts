import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { wrapped } from '../../cli/text.js';
import type { Hook } from '../../src/client/index.js';
import { computeTextWidth } from '../../src/kernel/width.js';
import { hintsView, messageView, tabsView, titleView } from '../../tui/frame/bars.js';
import { helpView } from '../../tui/frame/help.js';
import { sheetView } from '../../tui/frame/sheets.js';
import { bindings } from '../../tui/keys.js';
import { drawRow, plainRowText } from '../../tui/parts/row.js';
import { approvalsPage } from '../../tui/screens/approvals.js';
import { pages } from '../../tui/screens.js';
import { roots } from '../../tui/state/locations.js';
import type { StateAction } from '../../tui/state/state.js';
import { createTheme } from '../../tui/theme.js';
import {
  aCredential,
  agentsLoaded,
  aHook,
  aLine,
  aMessage,
  aNotification,
  anAgent,
  anApproval,
  anExecution,
  approvalsLoaded,
  aTunnel,
  executionsLoaded,
  hooksLoaded,
  inboxLoaded,
  known,
  logsLoaded,
  messagesLoaded,
  shown,
  tunnelLoaded,
  vaultLoaded,
} from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SIZES: [number, number][] = [
  [60, 16],
  [80, 24],
  [140, 40],
];
const nasty = `日本語👩‍💻\u001b[2J\u202e${'x'.repeat(300)}`;
const everything: StateAction[] = [
  ...hooksLoaded([aHook({ name: nasty }), aHook({ id: 'hook_02', name: 'second' })]),
  ...executionsLoaded([anExecution({ error: nasty, status: 'error' })]),
  ...inboxLoaded([aNotification({ title: nasty, body: nasty })]),
  ...vaultLoaded([aCredential({ name: nasty })]),
  ...tunnelLoaded(aTunnel({ name: nasty, detail: nasty, log: [{ at: nasty, line: nasty }] })),
  ...logsLoaded([aLine({ message: `${nasty}\n${nasty}`, data: { [nasty]: nasty } })]),
  ...agentsLoaded([anAgent({ name: nasty, error: nasty })]),
  ...messagesLoaded([aMessage({ content: `${nasty}\nmore` })]),
  ...approvalsLoaded([anApproval({ arguments: { argv: [nasty], text: 'a\nb' }, reason: nasty })]),
];
const atHooks: StateAction[] = [{ type: 'ui.root', root: 'hooks' }];
const atHook: StateAction[] = [
  ...atHooks,
  { type: 'ui.opened', place: { page: 'hook', id: 'hook_01' } },
];
const atAgent: StateAction[] = [
  { type: 'ui.root', root: 'agents' },
  { type: 'ui.opened', place: { page: 'agent', id: anAgent().id } },
];
const atApprovals: StateAction[] = [{ type: 'ui.root', root: 'approvals' }];

describe('views', () => {
  it('fit their place at every size, and send nothing that a terminal obeys', () => {
    const theme = createTheme('mono');
    for (const [width, height] of SIZES) {
      for (const { page, of } of [
        { page: pages.hooks, of: atHooks },
        { page: pages.hook, of: atHook },
        { page: pages.approvals, of: atApprovals },
        { page: pages.overview, of: [] },
        { page: pages.agents, of: [{ type: 'ui.root', root: 'agents' } as const] },
        { page: pages.agent, of: atAgent },
        ...roots.map((root) => ({ page: pages[root], of: [{ type: 'ui.root', root } as const] })),
      ]) {
        const state = known([...everything, ...of], width, height);
        const size = { width, height: height - 5 };
        const views = [page.view, titleView, tabsView, messageView, hintsView, helpView];
        for (const row of views.flatMap((view) => view(state, size))) {
          const sent = drawRow(row, width, theme);
          expect(computeTextWidth(sent.replaceAll(/\u001b\[[\d;]*m/g, ''))).to.equal(width);
          expect(sent.replaceAll(/\u001b\[[\d;]*m/g, '')).to.not.match(/[\u0000-\u001f\u202e]/);
        }
        expect(page.view(state, size).length).to.be.at.most(Math.max(size.height, 1));
      }
    }
  });

  it('keep to ASCII where they are asked to', () => {
    const state = known([...everything, ...atHooks]);
    const theme = createTheme('mono', true);
    const rows = [
      ...pages.hooks.view(state, { width: 80, height: 19 }),
      ...tabsView(state, { width: 80, height: 1 }),
    ];
    for (const row of rows) expect(drawRow(row, 80, theme)).to.match(/^[\x20-\x7e\u001b]*$/);
  });

  it('draw the bars', () => {
    const state = known([...approvalsLoaded([anApproval(), anApproval({ id: 'b' })]), ...atHooks]);
    expect(shown(titleView, state, 80, 1)[0]).to.match(
      /^Adjutant 1\.0\.0 {3}ada@127\.0\.0\.1:3005 {3}live +2 APPROVALS {2}\d\d:\d\d:\d\d$/,
    );
    expect(shown(tabsView, state, 80, 1)).to.equal([
      '1Overview [2Hooks] 3Agents 4Approvals 5Inbox 6Vault 7Models 8Tunnel 9Team 0Logs',
    ]);
  });

  it('wraps in the help what its words mean, where there is room', () => {
    const root = { type: 'ui.root' as const, root: 'capabilities' as const };
    const help = shown(helpView, known([root]), 80, 40).join('\n');
    expect(help).to.match(
      /not installed; can be installed if it has a .*\n +licence and a source /,
    );
  });

  it('name every key that works everywhere on a terminal of 80 by 24', () => {
    const said = shown(helpView, known([]), 80, 19).join('\n');
    const keys = bindings.filter(({ scope }) => scope === 'everywhere');
    expect(keys.filter(({ text }) => !said.includes(wrapped(text, 14)[0] ?? ''))).to.equal([]);
  });

  it('show what to enter at the sender of a hook, as the command line does', () => {
    const at = (hook: Hook): string[] =>
      shown(
        pages.hook.view,
        known([...hooksLoaded([hook]), ...atHook, { type: 'ui.looked', change: { tab: 1 } }]),
        80,
        20,
      ).slice(3);
    expect(at(aHook())).to.equal([
      'GitHub → repository → Settings → Webhooks → Add webhook',
      '',
      'Payload URL       http://127.0.0.1:3005/api/webhooks/issues',
      'Content type      application/json',
      'Secret            the one you set; R creates a new one',
      'SSL verification  enabled',
      'Events            the events for this hook',
      '',
      'Then save. GitHub sends a ping, which is listed as a skipped execution.',
      'This address works only on this machine. Other senders need a public address',
      'with TLS:',
      'adjutant tunnel setup, then: adjutant hooks settings github-issues',
      'Manual test  adjutant hooks send github-issues',
      'Rejections   adjutant hooks refused github-issues',
    ]);
    expect(at(aHook({ triggerConfig: { webhookPath: 'x', verify: 'stripe' } }))[0]).to.contain(
      'Stripe',
    );
  });

  it('list hooks', () => {
    const hooks = [aHook(), aHook({ id: 'hook_02', name: 'stripe', enabled: false })];
    const state = known([...hooksLoaded(hooks), ...atHooks]);
    expect(shown(pages.hooks.view, state, 80, 6)).to.equal([
      '  NAME           STATE     LAST        RUNS  TRIGGER   ACTION',
      '> github-issues  enabled   ERROR 2m     412  webhook   notify',
      '  stripe         disabled  ERROR 2m     412  webhook   notify',
    ]);
  });

  it('show the organization of a row, and in a list only if a row has one', () => {
    const rows = [aCredential({ orgId: 'org_01', name: 'ours' }), aCredential({ id: 'c2' })];
    const seen = (credentials: typeof rows) =>
      shown(
        pages.vault.view,
        known([
          { type: 'session.known', orgs: { org_01: 'acme' } },
          { type: 'ui.root', root: 'vault' },
          ...vaultLoaded(credentials),
        ]),
        80,
        20,
      ).join('\n');
    expect(seen(rows)).to.match(/^ +NAME .* ORG$/m);
    expect(seen(rows)).to.match(/^> ours .* acme$/m);
    expect(seen(rows)).to.match(/^Org +acme$/m);
    expect(seen(rows.slice(1))).to.not.match(/\bORG\b/i);
  });

  it('say what an empty list is for, and how one is made', () => {
    const state = known([...hooksLoaded([]), ...atHooks]);
    expect(shown(pages.hooks.view, state, 80, 19)[0]).to.equal('No hooks yet.');
  });

  it('say who may, where one may not', () => {
    const state = known([
      ...atHooks,
      { type: 'list', name: 'hooks', change: { do: 'ask', of: null, generation: 1, at: 0 } },
      {
        type: 'list',
        name: 'hooks',
        change: {
          do: 'fail',
          generation: 1,
          trouble: { status: 403, message: 'Admins only', requestId: 'request_1' },
        },
      },
    ]);
    expect(shown(pages.hooks.view, state, 80, 19)).to.equal([
      'Could not load the hooks: 403, Admins only (request request_1)',
      'You are ada (admin). Ask an admin.   ctrl-r retries',
    ]);
  });

  it('show an execution, its payload made safe', () => {
    const open: StateAction = {
      type: 'ui.opened',
      place: { page: 'execution', id: 'execution_8f3k2a', of: 'hook_01' },
    };
    const state = known([
      ...hooksLoaded([aHook()]),
      ...executionsLoaded([anExecution()]),
      ...atHook,
      open,
    ]);
    expect(shown(pages.execution.view, state, 80, 19)[0]).to.match(
      /^github-issues \/ exec …8f3k2a {3}success/,
    );
    const payload = known([
      ...hooksLoaded([aHook()]),
      ...executionsLoaded([anExecution()]),
      ...atHook,
      open,
      { type: 'ui.looked', change: { tab: 1 } },
    ]);
    expect(shown(pages.execution.view, payload, 80, 19).slice(3)).to.equal([
      '{',
      '  "evil": "\\u001b[2J"',
      '}',
    ]);
  });

  it('show what is gone', () => {
    expect(shown(pages.hook.view, known([...hooksLoaded([]), ...atHook]), 80, 19)[0]).to.equal(
      'This hook no longer exists.',
    );
  });

  it('show the overview only when it is known', () => {
    expect(shown(pages.overview.view, known(), 80, 19)).to.equal([]);
  });
});

describe('approvals', () => {
  const asked = (rows = [anApproval()], more: StateAction[] = [], width = 80, height = 24) =>
    known([...approvalsLoaded(rows), ...atApprovals, ...more], width, height);

  it('show the whole call, each argument on lines of its own', () => {
    expect(shown(approvalsPage.view, asked(), 80, 19).slice(3, 8)).to.equal([
      'shell.run   digest 4f2a91c0   UNTRUSTED',
      '  argv      npm',
      '            test',
      '  folder    /tmp',
      'Reason      it has side effects',
    ]);
  });

  it('lets nothing be approved whose end was not on screen', () => {
    const argv = Array.from({ length: 60 }, (_, at) => `word ${at}`);
    const state = asked([anApproval({ arguments: { argv } })]);
    expect(approvalsPage.acts?.(state).approve?.refusal).to.contain(
      'Scroll to the end of the call',
    );
    const read = asked(
      [anApproval({ arguments: { argv } })],
      [{ type: 'ui.looked', change: { scroll: 60 } }],
    );
    expect(approvalsPage.acts?.(read).approve?.refusal).to.be.undefined();
    expect(approvalsPage.noticed?.(read)?.type).to.equal('approval.seen');
  });

  it('cuts nothing of a long line, and lets nothing be approved that is too long to show', () => {
    const told = (command: string) => asked([anApproval({ arguments: { command } })]);
    const long = told(`${'x'.repeat(4500)}${'€'.repeat(4500)}THE END`);
    const rows = approvalsPage.text?.(long, 80) ?? [];
    expect(
      rows
        .map(plainRowText)
        .join('')
        .replace(/[^x€A-Z]/g, ''),
    ).to.contain(`${'x'.repeat(4500)}${'€'.repeat(4500)}THEEND`);
    const read: StateAction = { type: 'ui.looked', change: { scroll: 100_000 } };
    const endless = asked([anApproval({ arguments: { command: 'x'.repeat(300_000) } })], [read]);
    expect(approvalsPage.acts?.(endless).approve?.refusal).to.contain('too long to show here');
  });

  it('keeps the chosen one when it is decided elsewhere, and offers nothing on it', () => {
    const rows = [anApproval({ id: 'a', status: 'denied' }), anApproval({ id: 'b' })];
    const state = asked(rows, [{ type: 'ui.looked', change: { selected: 'a' } }]);
    expect(approvalsPage.items?.(state).map(({ id }) => id)).to.equal(['a', 'b']);
    expect(approvalsPage.acts?.(state)).to.equal({});
  });

  it('names the call in the question', () => {
    const act = approvalsPage.acts?.(asked()).approve;
    if (!act) throw new Error('Nothing to approve');
    const state = asked(undefined, [{ type: 'ui.sheet', sheet: { act, openedAt: 0 } }]);
    expect(shown(sheetView, state, 80, 3)[1]).to.equal(
      'Approve shell.run 4f2a91c0 for agent …tw4e6r, once, exactly as shown?',
    );
  });
});
