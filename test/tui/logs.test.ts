import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/index.js';
import { logsPage } from '../../tui/screens/logs.js';
import { readLogs } from '../../tui/state/logs.js';
import type { LogRow } from '../../tui/state/rows.js';
import type { StateAction } from '../../tui/state/state.js';
import { aLine, known, logsLoaded, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const here: StateAction = { type: 'ui.root', root: 'logs' };
const looked = (change: Extract<StateAction, { type: 'ui.looked' }>['change']): StateAction => ({
  type: 'ui.looked',
  change,
});
const timeless = (lines: string[]) =>
  lines.map((line) => line.replace(/^\d\d:\d\d:\d\d\.\d{3}/, 'TIME'));

const gap: LogRow = { id: 'gap 2', is: 'gap', from: 2, to: 6 };
const rows: LogRow[] = [
  aLine(),
  gap,
  aLine({ id: 7, level: 'warn', message: 'cooling', data: { model: 'a b', s: 60 } }),
  aLine({ id: 8, level: 'error', message: 'failed', data: { channel: 'telegram' } }),
];

describe('logs', () => {
  it('shows the newest at the bottom, and a line wherever some are missing', () => {
    const state = known([...logsLoaded(rows), here]);
    expect(timeless(shown(logsPage.view, state, 80, 19))).to.equal([
      'TIME info  accepted   hook=github-issues ms=3',
      '  ── 5 lines are missing: no longer in memory ──',
      'TIME warn  cooling   model="a b" s=60',
      'TIME ERROR failed   channel=telegram',
    ]);
    expect(logsPage.summary?.(state)).to.equal('following   level info and above (, less  . more)');
  });

  it('stays at its end while it is followed, at every size', () => {
    const many = Array.from({ length: 99 }, (_, at) => aLine({ id: at, message: `line ${at}` }));
    for (const [width, height] of [
      [60, 16],
      [80, 24],
      [140, 40],
    ] as const) {
      const state = known([...logsLoaded(many), here], width, height);
      const lines = shown(logsPage.view, state, width, height - 5);
      expect(lines).to.have.length(height - 5);
      expect(lines.at(-1)).to.contain('line 98');
      const away = known(
        [...logsLoaded(many), here, looked({ isFollowing: false, scroll: 0 })],
        width,
        height,
      );
      expect(shown(logsPage.view, away, width, height - 5)[0]).to.contain('line 0 ');
    }
  });

  it('wraps a long line under itself, or cuts it, or shows it raw', () => {
    const long = [aLine({ message: 'word '.repeat(20).trim(), data: {} })];
    const lines = shown(logsPage.view, known([...logsLoaded(long), here], 60, 16), 60, 11);
    expect(lines.length).to.be.above(2);
    expect(lines[1]).to.match(/^ {19}word/);
    const cut = known([...logsLoaded(long), here, looked({ isWrapped: false })], 60, 16);
    expect(shown(logsPage.view, cut, 60, 11)).to.have.length(1);
    const raw = known([...logsLoaded(rows), here, looked({ isRaw: true })], 140, 40);
    expect(shown(logsPage.view, raw, 140, 35)[0]).to.match(/^\{"id":1,/);
  });

  it('filters by words and by level, and keeps the gaps', () => {
    const left = (filter: string) =>
      shown(logsPage.view, known([...logsLoaded(rows), here, looked({ filter })]), 80, 19).length;
    expect([left('telegram'), left('level:warn'), left('!github'), left('nothing')]).to.equal([
      2, 2, 3, 1,
    ]);
    const none = known([...logsLoaded([aLine()]), here, looked({ filter: 'nothing' })]);
    expect(shown(logsPage.view, none, 80, 19)).to.equal([
      'No lines of level info and above match.',
      '  esc  clear the filter',
    ]);
  });

  it('says who may, where one may not', () => {
    const state = known([
      { type: 'session.known', who: { username: 'bob', role: 'user' } },
      here,
      { type: 'list', name: 'logs', change: { do: 'ask', of: 'info', generation: 1, at: 0 } },
      {
        type: 'list',
        name: 'logs',
        change: { do: 'fail', generation: 1, trouble: { status: 403, message: 'Admins only' } },
      },
    ]);
    expect(shown(logsPage.view, state, 80, 19)).to.equal([
      'Could not load the log: 403, Admins only',
      'You are bob (user). Ask an admin.   ctrl-r retries',
    ]);
  });

  it('reads on after what it knows, and tells what it missed', async () => {
    const asked: string[] = [];
    const fetch = async (url: unknown) => {
      asked.push(String(url).replace(/^http:\/\/[^/]*/, ''));
      const entry = { id: 9, at: null, level: 'warn', message: 'late', data: {} };
      const reply = { entries: [entry], lastId: 12, oldestId: 6, gap: asked.length > 1 };
      return new Response(JSON.stringify(reply), {
        headers: { 'content-type': 'application/json' },
      });
    };
    const client = createClient({ url: 'http://127.0.0.1:1', fetch });
    const first = await readLogs(client, 'warn', undefined);
    expect(first.nextCursor).to.equal('12');
    expect(first.rows.map(({ id }) => id)).to.equal(['9']);
    const next = await readLogs(client, 'warn', '3');
    expect(next.rows[0]).to.equal({ id: 'gap 4', is: 'gap', from: 4, to: 5 });
    expect(asked).to.equal([
      '/api/admin/logs?level=warn&limit=500',
      '/api/admin/logs?after=3&level=warn&limit=500',
    ]);
  });
});
