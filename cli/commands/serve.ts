import { loadDaemon } from '../../src/bundle.js';
import { command } from '../command.js';
import { resolveHome } from '../daemon/environment.js';
import { getDaemonLogPath, keepLogSmall } from '../daemon/log.js';
import { findPortHolder, holderText } from '../daemon/process.js';
import { listenFlags } from '../daemon/readiness.js';
import { type CliFault, failed } from '../exit.js';

/** Runs the daemon in this process. Only this command loads it, because it is the whole server. */
export const serveCommand = command({
  name: 'serve',
  summary: 'Run the daemon in the foreground',
  examples: ['', '--port 3006', '--home /srv/adjutant'],
  flags: listenFlags,
  notes: [
    'Logs go to stderr, one JSON line per event. SIGTERM and ^C stop the daemon cleanly.',
    'Every setting is also an environment variable: adjutant help environment',
  ],
  seeAlso: 'up, quickstart',
  run: async (context, { flags }) => {
    const { runDaemon: become, StartRefused } = await loadDaemon();
    const { home } = context.flags;
    const stop = keepLogSmall(getDaemonLogPath(resolveHome(home)));
    try {
      await become({ ...flags, ...(home && { home }) }, (line) => context.out.line(line));
    } catch (error) {
      throw error instanceof StartRefused ? notStarted(error.message) : error;
    } finally {
      stop();
    }
  },
});

const notStarted = (reason: string): CliFault => {
  const taken = /^Port (\d+) is already in use/.exec(reason)?.[1];
  if (taken !== undefined) return portTaken(Number(taken));
  const next = reason.startsWith('Another Adjutant') ? ['Check it: adjutant status'] : [];
  // A setting at the beginning keeps its capitals.
  const text = reason.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  return failed(`Not started: ${text}.`, ...next);
};

const portTaken = (port: number): CliFault =>
  failed(
    `Not started: port ${port} is already in use${holderText(findPortHolder(port))}.`,
    `Free the port, or: adjutant serve --port ${port + 1}`,
  );
