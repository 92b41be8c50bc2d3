import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient, type TunnelCheck } from '../../src/client/index.js';
import { tunnelActs, tunnelPage } from '../../tui/screens/tunnel.js';
import type { StateAction } from '../../tui/state/state.js';
import { aTunnel, known, NOW, shown, tunnelLoaded } from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const here: StateAction = { type: 'ui.root', root: 'tunnel' };
const timeless = (lines: string[]) =>
  lines.map((line) => line.replace(/(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d/, 'TIME'));

describe('tunnel', () => {
  const state = known([...tunnelLoaded(aTunnel()), here]);

  it('shows the stages, what the failing one saw, and what to do', () => {
    expect(timeless(shown(tunnelPage.view, state, 80, 19))).to.equal([
      'cloudflared (named)   running 3d   https://hooks.example.org   verified',
      '',
      '  1 name         ok      resolves to 2 addresses                           12 ms',
      '  2 certificate  ok      valid 71 days                                     88 ms',
      '  3 reaches us   ok      the nonce came back                              101 ms',
      '  4 unsigned     WARN    refused with 403                                  97 ms',
      '> 5 signed       FAILED  arrived unsigned',
      '  6 exposed      not run',
      '',
      'Observed  the body arrived whole, 3 of 4 headers',
      'Cause     a rule in front removes headers that begin with X-Hub',
      'Fix       adjutant tunnel config caddy > Caddyfile',
      '',
      'Process log, newest first',
      'TIME connector registered',
      'TIME starting',
    ]);
    expect(timeless([tunnelPage.summary?.(state) ?? ''])).to.equal(['checked TIME']);
  });

  it('keeps the latency on screen at every size, and scrolls to the rest', () => {
    for (const [width, height] of [
      [60, 16],
      [80, 24],
      [140, 40],
    ] as const) {
      const sized = known([...tunnelLoaded(aTunnel()), here], width, height);
      const lines = shown(tunnelPage.view, sized, width, height - 5);
      expect(lines.length).to.be.at.most(height - 5);
      expect(lines[4]).to.match(/ 101 ms$/);
      expect(lines[4]).to.have.length(width);
    }
    const below = known(
      [...tunnelLoaded(aTunnel()), here, { type: 'ui.looked', change: { scroll: 99 } }],
      60,
      16,
    );
    expect(shown(tunnelPage.view, below, 60, 11).at(-1)).to.match(/ starting$/);
  });

  it('says why it is not up, and when it is tried again', () => {
    const nextTryAt = new Date(NOW + 12_000).toISOString();
    const tunnel = aTunnel({
      status: 'restarting',
      detail: 'the token was refused',
      nextTryAt,
      address: null,
      reach: 'none',
      addressHeader: null,
      check: null,
      log: [],
    });
    const lines = shown(tunnelPage.view, known([...tunnelLoaded(tunnel), here]), 80, 19);
    expect(lines).to.equal([
      'cloudflared (named)   restarting 3d   no address',
      'Detail    the token was refused',
      'Retry in  00:12',
      'Note      It does not report client addresses: limits per address are off.',
      '',
      'Not checked yet: c checks it',
    ]);
  });

  it('says how one is set up, and who may look', () => {
    const none = known([...tunnelLoaded(aTunnel({ provider: null })), here]);
    expect(shown(tunnelPage.view, none, 80, 19)).to.equal([
      'No tunnel is set up. Only this machine can reach the daemon.',
      '  e  set up      adjutant tunnel setup',
    ]);
    expect(tunnelPage.acts?.(none)).to.equal({});
    const refused = known([
      { type: 'session.known', who: { username: 'bob', role: 'user' } },
      here,
      { type: 'list', name: 'tunnel', change: { do: 'ask', of: null, generation: 1, at: 0 } },
      {
        type: 'list',
        name: 'tunnel',
        change: { do: 'fail', generation: 1, trouble: { status: 403, message: 'Admins only' } },
      },
    ]);
    expect(shown(tunnelPage.view, refused, 80, 19)).to.equal([
      'Could not load the tunnel: 403, Admins only',
      'You are bob (user). Ask an admin.   ctrl-r retries',
    ]);
    expect(tunnelPage.needs(refused)).to.equal([{ is: 'list', list: 'tunnel' }]);
  });

  it('offers to start what is off, and to stop what is on', () => {
    const off = known([...tunnelLoaded(aTunnel({ on: false, status: 'off' })), here]);
    expect(Object.keys(tunnelPage.acts?.(off) ?? {})).to.equal(['check', 'start', 'delete']);
    expect(Object.keys(tunnelPage.acts?.(state) ?? {})).to.equal(['check', 'stop', 'delete']);
  });

  it('says which stage fails once it is checked', async () => {
    const said = (reply: TunnelCheck | null) => {
      const fetch = async () =>
        new Response(JSON.stringify(reply), { headers: { 'content-type': 'application/json' } });
      return tunnelActs(aTunnel()).check?.call(
        createClient({ url: 'http://127.0.0.1:1', fetch }),
        '',
      );
    };
    const failed = aTunnel().check;
    expect(await said(failed)).to.equal({ message: 'Failed at: signed', tone: 'danger' });
    const passed = failed && { ...failed, ok: true, failure: null };
    expect(await said(passed)).to.equal({
      message: 'No failures. Warnings: unsigned',
      tone: 'warn',
    });
    const stages = (failed?.stages ?? []).map((stage) => ({ ...stage, status: 'ok' as const }));
    expect(await said(passed && { ...passed, stages })).to.equal('Checked: all 6 stages pass');
  });
});
