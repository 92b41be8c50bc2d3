import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { EditorOutcome } from '../../cli/editor.js';
import { type Approval, createClient } from '../../src/client/index.js';
import type { Controller, ControllerEffects } from '../../tui/control/controller.js';
import { dispatchKey } from '../../tui/control/dispatch.js';
import type { InputEvent } from '../../tui/input.js';
import { roots } from '../../tui/state/locations.js';
import { reduce, type StateAction } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { topView } from '../../tui/state/ui.js';
import { frozenClock } from '../harness/clock.js';
import { runLoopTurns } from '../harness/turns.js';
import {
  aCredential,
  aFinding,
  agentsLoaded,
  aHit,
  aHook,
  anAgent,
  anApproval,
  approvalsLoaded,
  aTunnel,
  hooksLoaded,
  known,
  listLoaded,
  NOW,
  quietFeed,
  tunnelLoaded,
  vaultLoaded,
} from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const REPLY = { id: 'x', status: 'approved', value: 'a new value', credential: { version: 4 } };

/** A terminal that only records requests. */
const outsideThat = (tell: (does: string) => void, written: EditorOutcome): ControllerEffects => ({
  copy: (text) => tell(`copy ${text}`),
  leave: async (words) => tell(words.join(' ')),
  write: async (text) => {
    tell(`write ${text}`);
    return written;
  },
  print: async (lines) => tell(`print ${lines.length}`),
  redraw: () => tell('redraw'),
  suspend: () => tell('suspend'),
  quit: () => tell('quit'),
});

/** Keys on a desk whose daemon only records requests. */
const openDesk = (
  actions: StateAction[],
  {
    written = { is: 'written', text: '' },
    reply = REPLY,
  }: { written?: EditorOutcome; reply?: object } = {},
) => {
  const asked: string[] = [];
  const outside: string[] = [];
  const clock = frozenClock(NOW);
  const store = createStore(reduce, known(actions));
  const fetch: typeof globalThis.fetch = async (url, init) => {
    asked.push(
      `${init?.method} ${String(url).replace(/^http:\/\/[^/]*/, '')} ${init?.body ?? ''}`.trim(),
    );
    return new Response(JSON.stringify(reply), {
      headers: { 'content-type': 'application/json' },
    });
  };
  const hands: Controller = {
    client: createClient({ url: 'http://127.0.0.1:1', fetch }),
    store,
    feed: { ...quietFeed(), reloadShown: async () => void asked.push('read again') },
    clock,
    logIn: async ({ username, password, totpCode }) => {
      outside.push(`log in ${username} ${password} ${totpCode ?? ''}`.trim());
      return totpCode === undefined
        ? { is: 'code' }
        : { is: 'in', who: { username, role: 'user' } };
    },
    keptName: 'ada',
    tryNow: () => outside.push('try'),
    outside: outsideThat((does) => outside.push(does), written),
  };
  const keys = (...names: string[]): void => {
    for (const key of names) dispatchKey(hands, { type: 'key', key, isBurst: false });
  };
  const press = async (...names: string[]): Promise<void> => {
    keys(...names);
    await runLoopTurns();
  };
  const tell = (event: InputEvent): void => dispatchKey(hands, event);
  return { asked, outside, clock, store, keys, press, settled: runLoopTurns, tell };
};

const atHooks: StateAction[] = [
  ...hooksLoaded([aHook(), aHook({ id: 'hook_02', name: 'second', enabled: false })]),
  { type: 'ui.root', root: 'hooks' },
];
const atApprovals: StateAction[] = [
  ...approvalsLoaded([anApproval()]),
  { type: 'ui.root', root: 'approvals' },
];

describe('keys on the desk', () => {
  it('makes no call by a burst, a paste or a stray sequence, on any screen', async () => {
    for (const root of roots) {
      const desk = openDesk([...atHooks, ...atApprovals, { type: 'ui.root', root }]);
      for (const key of 'spxtraADRyMm') desk.tell({ type: 'key', key, isBurst: true });
      desk.tell({ type: 'paste', text: 'Ay\nDy\n' });
      desk.tell({ type: 'reply', text: '\u001b]11;A\u0007' });
      await desk.settled();
      expect(desk.asked).to.equal([]);
      expect(desk.store.get().ui.sheet).to.be.null();
      expect(desk.outside).to.equal([]);
    }
  });

  it('chooses the first of what is searched for, and keeps the choice of what is filtered', () => {
    const chosen = (actions: StateAction[], change: object, ...keys: string[]) => {
      const { store, keys: press } = openDesk([...actions, { type: 'ui.looked', change }]);
      press(...keys);
      return topView(store.get().ui).selected;
    };
    expect(chosen(atHooks, { selected: 'hook_02' }, '/', 's')).to.equal('hook_02');
    const searched = chosen([{ type: 'ui.root', root: 'knowledge' }], { selected: 'b' }, '/', 's');
    expect(searched).to.be.null();
  });

  it('chooses by id, so that rows may move', () => {
    const desk = openDesk(atHooks);
    desk.keys('j');
    expect(topView(desk.store.get().ui).selected).to.equal('hook_02');
    desk.tell({ type: 'key', key: 'k', isBurst: true });
    expect(topView(desk.store.get().ui).selected).to.equal('hook_01');
  });

  it('does what can be undone at once', async () => {
    const desk = openDesk(atHooks);
    await desk.press('p');
    expect(desk.asked).to.equal(['POST /api/hooks/hook_01/disable']);
    expect(desk.store.get().lists.hooks.busy).to.equal({});
  });

  it('answers a key that has nothing to do', async () => {
    const desk = openDesk(atHooks);
    desk.keys('s');
    expect(desk.store.get().ui.message?.text).to.equal('Not possible here now: enable');
  });

  it('deletes only by the typed name', async () => {
    const desk = openDesk(atHooks);
    await desk.press('D', 'y', 'enter');
    expect(desk.asked).to.equal([]);
    await desk.press('ctrl-u', ...'github-issues', 'enter');
    expect(desk.asked).to.equal(['DELETE /api/hooks/hook_01']);
  });

  it('approves by y alone, after 700 ms, with the digest that was shown', async () => {
    const desk = openDesk(atApprovals);
    desk.keys('A', 'y', 'enter');
    expect(desk.store.get().ui.sheet).to.be.null();
    await desk.press('A', 'y');
    expect(desk.asked).to.equal([]);
    desk.clock.forward(700);
    await desk.press('y');
    const { id: approvalId, digest } = anApproval();
    const body = JSON.stringify({ approvalId, digest, approved: true });
    expect(desk.asked).to.equal([`POST /api/chat/approve ${body}`]);
  });

  it('lets an approval stand where that is offered, by keys of their own', async () => {
    const scopes: Approval['scopes'] = ['once', 'conversation', 'host'];
    const args = { method: 'POST', url: 'https://example.org/in' };
    const one = anApproval({ tool: 'http', action: 'request', arguments: args, scopes });
    for (const [key, scope] of [
      ['C', 'conversation'],
      ['H', 'host'],
    ] as const) {
      const desk = openDesk([...approvalsLoaded([one]), { type: 'ui.root', root: 'approvals' }]);
      desk.keys(key);
      expect(desk.store.get().ui.sheet?.act.ask?.lines.join(' ')).to.contain('https://example.org');
      desk.clock.forward(700);
      await desk.press('y');
      const body = { approvalId: one.id, digest: one.digest, approved: true, scope };
      expect(desk.asked).to.equal([`POST /api/chat/approve ${JSON.stringify(body)}`]);
    }
    const desk = openDesk(atApprovals);
    desk.keys('C', 'H');
    expect(desk.store.get().ui.sheet).to.be.null();
  });

  it('does nothing to a call that was decided under the sheet', async () => {
    const desk = openDesk(atApprovals);
    desk.keys('A');
    desk.clock.forward(1000);
    desk.store.dispatch({
      type: 'list',
      name: 'approvals',
      change: { do: 'put', row: anApproval({ status: 'denied' }) },
    });
    await desk.press('y');
    expect(desk.asked).to.equal([]);
    expect(desk.store.get().ui.message?.text).to.contain('Nothing was done');
  });

  it('keeps the question on the call that was read under a flood of others', async () => {
    const desk = openDesk(atApprovals);
    desk.keys('j', 'A');
    for (let n = 0; n < 50; n++) {
      const row = anApproval({ id: `approval_x${n}`, digest: `${n}`.padStart(64, 'f') });
      desk.store.dispatch({
        type: 'list',
        name: 'approvals',
        change: { do: 'put', row, isBelow: true },
      });
    }
    desk.clock.forward(700);
    await desk.press('y');
    expect(desk.asked[0]).to.contain('"approvalId":"approval_01"');
  });

  it('does nothing while the daemon is lost, and tries at once by enter', async () => {
    const link = { is: 'lost' as const, since: NOW, attempt: 1, nextAt: NOW, reason: 'refused' };
    const desk = openDesk([...atHooks, { type: 'session.linked', link }]);
    await desk.press('p', 'enter');
    expect(desk.asked).to.equal([]);
    expect(desk.outside).to.equal(['try']);
  });

  it('opens a screen by g and a letter, and leaves the page as it was', () => {
    const desk = openDesk(atHooks);
    const page = () => topView(desk.store.get().ui).page;
    desk.keys('j', 'g', 'o');
    expect(page()).to.equal('operations');
    desk.keys('2');
    expect(topView(desk.store.get().ui).selected).to.equal('hook_02');
    desk.keys('g', 'k');
    expect(page()).to.equal('knowledge');
    desk.keys('2', 'g');
    expect(topView(desk.store.get().ui).selected).to.equal('hook_01');
    desk.keys('j', 'k');
    expect(page()).to.equal('hooks');
    desk.keys('G', 'g');
    desk.clock.forward(2000);
    desk.keys('k');
    expect(page()).to.equal('hooks');
  });

  it('keeps a note of several lines, and asks nothing that is not asked', async () => {
    const desk = openDesk([{ type: 'ui.root', root: 'knowledge' }], { reply: { title: 'one' } });
    await desk.press('a', ...'one', 'ctrl-j', ...'two', 'enter');
    expect(desk.asked).to.equal(['POST /api/knowledge {"text":"one\\ntwo"}']);
    expect(desk.store.get().ui.message?.text).to.equal('Saved: one');
    await desk.press('i', ...'who', 'enter');
    expect(topView(desk.store.get().ui)).to.include({ page: 'answer', id: 'who' });
    expect(desk.store.get().ui.message).to.be.null();
    expect(desk.asked.length).to.equal(1);
  });

  it('goes through what was found while the search is typed', () => {
    const results = [aHit(), aHit({ chunk: 2 })];
    const desk = openDesk([
      ...listLoaded('found', [aFinding('s', { results })], 's'),
      { type: 'ui.root', root: 'knowledge' },
    ]);
    desk.keys('/', 's', 'down');
    expect(desk.store.get().ui.field?.text).to.equal('s');
    desk.keys('enter', 'enter');
    expect(topView(desk.store.get().ui)).to.include({ page: 'chunk', id: '2', of: 'entry_01' });
    desk.keys('esc', 'esc');
    expect(topView(desk.store.get().ui)).to.include({ page: 'knowledge', filter: '' });
  });

  it('finds and does by the palette', async () => {
    const desk = openDesk(atHooks);
    await desk.press(':', ...'disable', 'enter');
    expect(desk.asked).to.equal(['POST /api/hooks/hook_01/disable']);
    desk.keys(':', ...'vault', 'enter');
    expect(topView(desk.store.get().ui).page).to.equal('vault');
    desk.keys('ctrl-o');
    expect(topView(desk.store.get().ui).page).to.equal('hooks');
  });

  it('quits by the words that end vi, from any page', () => {
    for (const word of ['q', 'q!', 'qa', 'wq', 'x', 'quit']) {
      const desk = openDesk(atHooks);
      desk.keys('enter', ':', ...word, 'enter');
      expect([word, desk.outside, desk.asked]).to.equal([word, ['quit'], []]);
    }
    const desk = openDesk(atHooks);
    desk.keys(':', ...'qu', 'esc', ':', ...'vault', 'enter');
    expect([desk.outside, topView(desk.store.get().ui).page]).to.equal([[], 'vault']);
  });

  it('takes :q and a filter that came in one piece, and nothing else that did', () => {
    const hurried = (...names: string[]) => {
      const desk = openDesk(atHooks);
      for (const key of names) desk.tell({ type: 'key', key, isBurst: true });
      return desk;
    };
    expect(hurried(':', 'q', 'enter').outside).to.equal(['quit']);
    const other = hurried(':', ...'disable', 'enter');
    expect([other.outside, other.asked]).to.equal([[], []]);
    expect(other.store.get().ui.field?.text).to.equal('disable');
    const { outside, asked, store } = hurried('/', ...'sec', 'enter', 'enter', 'p');
    expect([outside, asked, store.get().ui.field]).to.equal([[], [], null]);
    expect(topView(store.get().ui)).to.include({ page: 'hooks', filter: 'sec' });
  });

  it('filters as one types, and esc closes the filter before the page', () => {
    const desk = openDesk(atHooks);
    desk.keys('/', ...'sec');
    expect(topView(desk.store.get().ui).filter).to.equal('sec');
    desk.keys('enter', 'enter');
    expect(topView(desk.store.get().ui)).to.include({ page: 'hook', id: 'hook_02' });
    desk.keys('esc', 'esc', 'esc', 'esc');
    expect(topView(desk.store.get().ui)).to.include({ page: 'hooks', filter: '' });
    expect(desk.outside).to.equal([]);
  });

  it('leaves for the CLI, copies, and quits from a list', () => {
    const desk = openDesk(atHooks);
    desk.keys('a', 'y', 'Y', 'enter', 'q', 'q');
    expect(desk.outside).to.equal([
      'hooks create',
      'copy hook_01',
      'copy adjutant hooks get hook_01',
      'quit',
    ]);
  });

  it('sends a message of several lines, and keeps what was not sent as a draft', async () => {
    const desk = openDesk([...agentsLoaded([anAgent()]), { type: 'ui.root', root: 'agents' }]);
    desk.keys('i', ...'one', 'esc');
    expect(desk.store.get().ui.drafts[anAgent().id]).to.equal('one');
    desk.keys('i', 'ctrl-j', 't');
    desk.tell({ type: 'paste', text: 'w\r\no' });
    await desk.press('enter');
    const body = JSON.stringify({ content: 'one\ntw\no' });
    expect(desk.asked).to.equal([`POST /api/agents/${anAgent().id}/message ${body}`]);
    expect(desk.store.get().ui.drafts[anAgent().id]).to.equal('');
  });

  it('writes a message in the editor, and comes back with it', async () => {
    const text = 'one\ntwo\n';
    const at: StateAction[] = [...agentsLoaded([anAgent()]), { type: 'ui.root', root: 'agents' }];
    const desk = openDesk(at, { written: { is: 'written', text } });
    await desk.press('i', ...'on', 'ctrl-x');
    expect(desk.outside).to.equal(['write on']);
    await desk.press('!', 'enter');
    const body = JSON.stringify({ content: 'one\ntwo!' });
    expect(desk.asked).to.equal([`POST /api/agents/${anAgent().id}/message ${body}`]);
  });

  it('keeps what was typed where there is no editor', async () => {
    const at: StateAction[] = [...agentsLoaded([anAgent()]), { type: 'ui.root', root: 'agents' }];
    const desk = openDesk(at, { written: { is: 'refused', reason: 'No editor is set' } });
    await desk.press('i', ...'on', 'ctrl-x');
    expect(desk.store.get().ui.field?.text).to.equal('on');
    expect(desk.store.get().ui.message).to.equal({ text: 'No editor is set', tone: 'warn' });
    await desk.press('esc', '/', 'ctrl-x');
    expect(desk.outside).to.equal(['write on']);
  });

  it('reads what is shown again after the CLI had the terminal', async () => {
    const desk = openDesk(atHooks);
    await desk.press('e');
    expect([desk.outside, desk.asked]).to.equal([['hooks update hook_01'], ['read again']]);
  });

  it('shows a new value of the vault once, and copies it only when asked', async () => {
    const desk = openDesk([
      ...vaultLoaded([aCredential({ type: 'webhook_secret' })]),
      { type: 'ui.root', root: 'vault' },
    ]);
    desk.keys('R', 'enter');
    expect(desk.store.get().ui.sheet).to.be.null();
    await desk.press('R', 'y');
    expect(desk.asked).to.equal(['POST /api/vault/credential_01/rotate {}']);
    expect(desk.store.get().ui.secret?.value).to.equal('a new value');
    desk.keys('esc', 'y', 'enter');
    expect(desk.outside).to.equal(['copy a new value']);
    expect(JSON.stringify(desk.store.get())).to.not.contain('a new value');
  });

  it('uses the earlier value of a credential again once it is confirmed', async () => {
    const desk = openDesk([
      ...vaultLoaded([aCredential({ version: 2 })]),
      { type: 'ui.root', root: 'vault' },
    ]);
    await desk.press('u', 'n');
    expect(desk.asked).to.equal([]);
    await desk.press('u', 'y');
    expect(desk.asked).to.equal(['POST /api/vault/credential_01/restore {}']);
  });

  it('offers no earlier value of a credential that has none', async () => {
    const desk = openDesk([
      ...vaultLoaded([aCredential({ version: 1 })]),
      { type: 'ui.root', root: 'vault' },
    ]);
    await desk.press('u', 'y');
    expect(desk.asked).to.equal([]);
  });

  it('logs in again by password and code, and keeps neither', async () => {
    const link = { is: 'refused' as const, reason: 'The session has ended', isEnded: true };
    const desk = openDesk([...atHooks, { type: 'session.linked', link }]);
    await desk.press('p', 'enter', ...'a secret', 'enter');
    expect(desk.store.get().ui.field?.for).to.equal('code');
    await desk.press(...'123456', 'enter');
    expect(desk.outside).to.equal(['log in ada a secret', 'log in ada a secret 123456']);
    expect(JSON.stringify(desk.store.get())).to.not.contain('a secret');
    expect(desk.asked).to.equal([]);
  });

  it('checks the tunnel at once, asks before it stops it, and copies its address', async () => {
    const desk = openDesk([...tunnelLoaded(aTunnel()), { type: 'ui.root', root: 'tunnel' }]);
    await desk.press('x', 'enter', 's', 'y', 'Y', 'e');
    expect(desk.asked.splice(0)).to.equal(['read again']);
    expect(desk.outside).to.equal([
      'copy https://hooks.example.org',
      'copy adjutant tunnel get',
      'tunnel setup',
    ]);
    await desk.press('x', 'y');
    expect(desk.asked).to.equal(['POST /api/tunnel/stop']);
  });

  it('forgets the address of the tunnel after a question, and none that a setting says', async () => {
    const at: StateAction = { type: 'ui.root', root: 'tunnel' };
    const desk = openDesk([...tunnelLoaded(aTunnel()), at]);
    await desk.press('D', 'enter');
    expect(desk.asked.splice(0)).to.equal([]);
    await desk.press('D', 'y');
    expect(desk.asked).to.equal(['DELETE /api/tunnel/address']);
    const fixed = openDesk([...tunnelLoaded(aTunnel({ publicUrlSetting: true })), at]);
    fixed.keys('D', 'y');
    await fixed.settled();
    expect(fixed.asked).to.equal([]);
  });

  it('tells a failed check in the tone of a failure', async () => {
    const failure = { stage: 'signed', seen: '', cause: '', remedy: '' };
    const at: StateAction[] = [...tunnelLoaded(aTunnel()), { type: 'ui.root', root: 'tunnel' }];
    const desk = openDesk(at, { reply: { stages: [], failure } });
    await desk.press('c');
    const { message } = desk.store.get().ui;
    expect(message).to.equal({ text: 'Failed at: signed', tone: 'danger' });
  });

  it('shows fewer lines of the log by , and more by .', () => {
    const desk = openDesk([{ type: 'ui.root', root: 'logs' }]);
    const level = () => topView(desk.store.get().ui).leastLevel;
    const seen = [',', ',', ',', ',', '.', '.', '.', '.', '.', '.'].map((key) => {
      desk.keys(key);
      return level();
    });
    expect(seen.slice(0, 5)).to.equal(['warn', 'error', 'fatal', 'fatal', 'error']);
    expect(seen.at(-1)).to.equal('trace');
  });

  it('quits at once by ctrl-c, but clears a field first', () => {
    const desk = openDesk(atHooks);
    desk.keys('/', 'x', 'ctrl-c');
    expect(desk.outside).to.equal([]);
    desk.keys('ctrl-c');
    expect(desk.outside).to.equal(['quit']);
  });
});
