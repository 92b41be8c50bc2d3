import { command, type Flag, on } from '../command.js';
import type { Context } from '../context.js';
import { isHere } from '../daemon/address.js';
import { homeOf } from '../daemon/environment.js';
import { followLog } from '../daemon/follow.js';
import { asJson, readable } from '../daemon/line.js';
import { lastLines, logOf, sizeOf } from '../daemon/log.js';
import { remoteLines } from '../daemon/remote.js';
import { failed, usageFault } from '../exit.js';

const LAST = 50;

const last: Flag<number> = {
  value: '<count>',
  about: `How many of the newest lines, ${LAST} unless set; 0 for none`,
  read: (given) => {
    if (/^\d{1,7}$/.test(given)) return Number(given);
    throw usageFault(`--last is a whole number of lines (got "${given}")`);
  },
};

export const logsCommand = command({
  name: 'logs',
  calls: ['logs list'],
  summary: 'Show what the daemon in the background has to say',
  examples: ['', '-f', '--last 1000 | grep failed', '--remote -f'],
  flags: {
    follow: { ...on('Go on with every new line, until ^C'), short: '-f' },
    last,
    remote: on('Ask the daemon, as its admin, instead of reading the file'),
  },
  notes: [
    'A pipe gets one JSON object per line. The file is <home>/logs/daemon.log.',
    'Of a daemon on another machine the newest 2,000 lines are asked for, which takes an admin.',
  ],
  seeAlso: 'status, doctor',
  run: async (context, { flags }) => {
    if (flags.remote || !isHere(context.url)) {
      const wanted = { last: flags.last ?? LAST, isFollowed: flags.follow === true };
      for await (const line of remoteLines(context, wanted)) print(context, line);
      return;
    }
    const path = logOf(homeOf(context.flags.home));
    if (!flags.follow && sizeOf(path) === 0) throw noLog(path);
    const { lines, end } = lastLines(path, flags.last ?? LAST);
    for (const line of lines) print(context, line);
    if (!flags.follow) return;
    for await (const line of followLog(path, end, context.signal)) print(context, line);
  },
});

const noLog = (path: string): Error =>
  failed(
    `No log yet: ${path} is empty or missing.`,
    'Only a daemon in the background writes it: adjutant up',
  );

const print = ({ out }: Context, line: string): void =>
  out.line(out.format === 'table' ? readable(line) : asJson(line));
