import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '../../src/client/errors.js';
import type { Client } from '../../src/client/index.js';
import { isReadAloud } from '../../src/client/session.js';
import { fieldColumns, type TableColumn } from '../columns.js';
import { command, on } from '../command.js';
import type { Context } from '../context.js';
import { homeOf } from '../daemon/environment.js';
import { upAt } from '../daemon/flags.js';
import { glance, glanceFacts, type OverviewReply } from '../daemon/overview.js';
import { type Readiness, readinessOf } from '../daemon/readiness.js';
import { lastDaemon, runningDaemon } from '../daemon/record.js';
import { Exit, interrupted } from '../exit.js';
import type { CliOutput } from '../output.js';
import { oneLine } from '../text.js';
import { duration } from '../times.js';

export const status = command({
  name: 'status',
  calls: ['overview get'],
  summary: 'Show whether the daemon runs, and how it is',
  examples: ['', '--json', '--watch'],
  flags: { watch: on('Again every two seconds, until ^C') },
  notes: ['Exit code 1: it does not run, or takes no work now. Log in to see details.'],
  seeAlso: 'doctor, logs',
  run: async (context, { flags }) => {
    if (!flags.watch) return show(context);
    for (;;) {
      if (context.out.format === 'table' && !isReadAloud()) context.out.line(CLEAR);
      await show(context);
      await pause(WATCH_MS, undefined, { signal: context.signal }).catch(() => {
        throw interrupted('The daemon goes on.');
      });
    }
  },
});

const WATCH_MS = 2000;
const CLEAR = '\u001b[2J\u001b[H';

const show = async (context: Context): Promise<void> => {
  const readiness = await readinessOf(context.url);
  context.exitCode = readiness.is === 'ready' ? Exit.done : Exit.failed;
  if (readiness.is === 'silent' || readiness.is === 'stranger') {
    return showAbsent(context, readiness);
  }
  await showPresent(context, readiness);
};

const partColumns: TableColumn<{ name: string; status: string; detail: string }>[] = [
  { name: 'name', value: ({ name }) => name },
  { name: 'status', value: ({ status: word }) => word },
  { name: 'detail', value: ({ detail }) => detail },
];
const absenceColumns: TableColumn<{ url: string; state: string; pid: number | null }>[] = [
  ...fieldColumns('url', 'state', 'pid'),
];

const showAbsent = ({ out, url, flags }: Context, { is }: Readiness): void => {
  const home = homeOf(flags.home);
  const running = runningDaemon(home);
  const isMeant = running !== null && [null, url].includes(running.url);
  const state = is === 'stranger' ? 'stranger' : isMeant ? 'starting' : 'not_running';
  if (out.format !== 'table') {
    out.item({ url, state, pid: isMeant ? running.pid : null }, absenceColumns);
    if (out.format === 'json') return;
  } else if (is === 'stranger') out.line(`Something that is no Adjutant answers at ${url}.`);
  else out.line(`${isMeant ? 'Running but silent' : 'Not running'} at ${url}.`);
  if (isMeant) out.note(`It is pid ${running.pid}. What it says: adjutant logs`);
  else if (running) out.note(`The daemon of ${home} is at ${running.url}.`);
  else if (lastDaemon(home)) out.note('It ended by itself. Why: adjutant logs');
  else out.note(`Start it: ${upAt(url)}`);
};

const showPresent = async (context: Context, readiness: Readiness): Promise<void> => {
  const { out, url } = context;
  const client = await context.client();
  const health = await client.health.detailed();
  const overview = context.token === undefined ? null : await overviewOf(client);
  const running = runningDaemon(homeOf(context.flags.home));
  const pid = running && [null, url].includes(running.url) ? running.pid : null;
  const failing = readiness.is === 'not_ready' ? readiness.failing : [];
  const ready = readiness.is === 'ready';
  if (out.format !== 'table') {
    const reply = {
      url,
      state: 'running',
      ready,
      failing,
      pid,
      ...health,
      ...(overview && { overview }),
    };
    const told = [
      { name: 'daemon', status: 'ok', detail: headOf(health, pid, url).join(', ') },
      { name: 'ready', status: ready ? 'ok' : 'down', detail: failing.join(', ') },
      ...(overview ? glanceFacts(overview) : []).map(([name, detail]) => ({
        ...{ name, status: name === 'public' ? reachedOf(overview) : 'ok', detail },
      })),
    ];
    return out.page({ reply, rows: [...told, ...health.parts], columns: partColumns });
  }
  out.line(headOf(health, pid, url).join('  '));
  const isReady = ready ? 'yes' : `NO: ${failing.join(', ')}`;
  if (overview === null) showParts(out, isReady, health);
  else for (const line of glance(overview, isReady)) out.sentence(line, 6);
};

/** An address that nobody was seen to reach is no `ok`. */
const reachedOf = (overview: OverviewReply | null): 'ok' | 'warn' =>
  overview?.reach === 'verified' ? 'ok' : 'warn';

const headOf = (
  { version, uptimeSeconds }: HealthReply,
  pid: number | null,
  url: string,
): string[] => [
  `Adjutant ${oneLine(version)}`,
  `running ${duration(uptimeSeconds * 1000)}`,
  ...(pid === null ? [] : [`pid ${pid}`]),
  url,
];

type HealthReply = Awaited<ReturnType<Client['health']['detailed']>>;

/** Without a login: every part by its name alone. */
const showParts = (out: CliOutput, isReady: string, { parts }: HealthReply): void => {
  out.facts([
    ['ready', isReady],
    ...parts.map(({ name, status: word, detail }): [string, string] => [
      name,
      `${word === 'ok' ? 'ok  ' : word.toUpperCase()}  ${detail}`,
    ]),
  ]);
  out.note('Details after: adjutant login');
};

/** Null where the login has ended, or its token may not read that. */
const overviewOf = async (client: Client): Promise<OverviewReply | null> => {
  try {
    return await client.overview.get();
  } catch (error) {
    if (error instanceof ApiError && [401, 403].includes(error.statusCode)) return null;
    throw error;
  }
};
