import type { Column } from '../columns.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { homeOf } from '../daemon/environment.js';
import { upAt } from '../daemon/flags.js';
import { aimed } from '../daemon/here.js';
import { type Readiness, readinessOf } from '../daemon/readiness.js';
import { lastDaemon, runningDaemon } from '../daemon/record.js';
import { Exit } from '../exit.js';
import { oneLine } from '../text.js';
import { duration } from '../times.js';

export const status = command({
  name: 'status',
  summary: 'Show whether the daemon runs, and how it is',
  examples: ['status', 'status --json'],
  notes: ['Exit code 1: it does not run, or takes no work now. Log in to see details.'],
  seeAlso: 'doctor, logs',
  run: async (context) => {
    const there = aimed(context);
    const readiness = await readinessOf(there.url);
    if (readiness.is !== 'ready') context.exitCode = Exit.failed;
    if (readiness.is === 'silent' || readiness.is === 'stranger') {
      return showAbsent(there, readiness);
    }
    await showPresent(there, readiness);
  },
});

const partColumns: Column<{ name: string; status: string; detail: string }>[] = [
  { name: 'name', value: ({ name }) => name },
  { name: 'status', value: ({ status: word }) => word },
  { name: 'detail', value: ({ detail }) => detail },
];
const absenceColumns: Column<{ url: string; state: string; pid: number | null }>[] = [
  { name: 'url', value: ({ url }) => url },
  { name: 'state', value: ({ state }) => state },
];

const showAbsent = ({ out, url, flags }: Context, { is }: Readiness): void => {
  const home = homeOf(flags.home);
  const running = runningDaemon(home);
  const isMeant = running !== null && [null, url].includes(running.url);
  if (out.format !== 'table') {
    const state = isMeant ? 'starting' : 'not_running';
    out.item({ url, state, pid: isMeant ? running.pid : null }, absenceColumns);
    return;
  }
  if (is === 'stranger') out.line(`Something that is no Adjutant answers at ${url}.`);
  else out.line(`${isMeant ? 'Running but silent' : 'Not running'} at ${url}.`);
  if (isMeant) out.note(`It is pid ${running.pid}. What it says: adjutant logs`);
  else if (running) out.note(`The daemon of ${home} is at ${running.url}.`);
  else if (lastDaemon(home)) out.note('It ended by itself. Why: adjutant logs');
  else out.note(`Start it: ${upAt(url)}`);
};

const showPresent = async (context: Context, readiness: Readiness): Promise<void> => {
  const { out, url, token } = context;
  const health = await (await context.client()).health.detailed();
  const running = runningDaemon(homeOf(context.flags.home));
  const pid = running && [null, url].includes(running.url) ? running.pid : null;
  const failing = readiness.is === 'not_ready' ? readiness.failing : [];
  const ready = readiness.is === 'ready';
  if (out.format !== 'table') {
    const reply = { url, state: 'running', ready, failing, pid, ...health };
    return out.page({ reply, rows: health.parts, columns: partColumns });
  }
  const uptime = duration(health.uptimeSeconds * 1000);
  const head = [
    `Adjutant ${oneLine(health.version)}`,
    `running ${uptime}`,
    pid && `pid ${pid}`,
    url,
  ];
  out.line(head.filter(Boolean).join('  '));
  out.facts([
    ['ready', ready ? 'yes' : `NO: ${failing.join(', ')}`],
    ...health.parts.map(({ name, status: word, detail }): [string, string] => [
      name,
      `${word === 'ok' ? 'ok  ' : word.toUpperCase()}  ${detail}`,
    ]),
  ]);
  if (token === undefined) out.note('Details after: adjutant login');
};
