import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { App, AppOptions } from './app.js';
import { BadSetting, type Config, readConfig, takeNotifySettings } from './config.js';
import { systemClock } from './kernel/clock.js';
import { type CodeCache, noCodeCache } from './kernel/codecache.js';
import { diskFullSentence, isDiskFull } from './kernel/failure.js';
import { createLog } from './kernel/log.js';
import { restrictUmask } from './kernel/private.js';
import { releaseWhenIdle } from './kernel/release.js';
import { createLogRing } from './kernel/ring.js';
import { openServiceManager } from './kernel/sdnotify.js';
import { beginOpening } from './open.js';
import { OpenRefused, Unavailable } from './store/engine/protocol.js';
import { version } from './version.js';

/** The message is one line for the operator. */
export class StartRefused extends Error {
  override name = 'StartRefused';
}

/**
 * Runs until SIGTERM or SIGINT. `say` prints the lines of the start; `compiled` caches the code for the
 * next start. Throws StartRefused.
 */
export const runDaemon = async (
  flags: Partial<Config>,
  say: (line: string) => void,
  compiled: CodeCache = noCodeCache,
): Promise<void> => {
  restrictUmask();
  // Measured: if all cores are busy, a parallel young-generation collection waits for its helpers.
  setFlagsFromString('--no-parallel-scavenge');
  // Measured: collecting when the heap has grown by 40 % has no cost under load and saves 20 to 80 MB.
  // By default V8 waits until the heap has doubled or more.
  setFlagsFromString('--heap-growing-percent=40');
  // A closed pipe or a full disk must not end the daemon.
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error').on('error', () => undefined);
  }
  const config = translateRefusals(() => readConfig(flags));
  const recent = createLogRing(systemClock.now());
  const log = createLog(config.logLevel, { ring: recent });
  const lost = (error: Error): void => {
    log.fatal({ err: error }, 'the database thread ended unexpectedly: the daemon exits');
    process.exit(1);
  };
  // Node would print all properties of the error, which may contain a request with its secrets.
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'uncaught exception: the daemon exits');
    process.exit(1);
  });
  const notify = takeNotifySettings();
  const app = await open({ config, log, recent, onLost: lost }, compiled).catch((error) => {
    throw isFull(error) ? new StartRefused(diskFullSentence(config.home)) : refusal(error);
  });
  // Before the first line, since a reader of it may stop the daemon at once.
  const ended = endSignal();
  const manager = openServiceManager(notify, (error) =>
    log.error({ err: error }, 'the service manager could not be notified'),
  );
  for (const line of startLines(config, app)) say(line);
  showSetupCode(app.report.setupCode, { say, terminal: process.stderr });
  manager.ready();
  const stopReleasing = releaseWhenIdle((error) =>
    log.warn({ err: error }, 'memory could not be released'),
  );
  await ended;
  stopReleasing();
  log.info('draining');
  manager.stopping();
  await app.close();
  compiled.keep();
};

/**
 * The code goes only to a terminal, and not to the log or `say`, whose lines may be stored in a file.
 * Without a terminal, one line names the file with the code.
 */
export const showSetupCode = (
  setup: App['report']['setupCode'],
  to: { say(line: string): void; terminal: { isTTY?: boolean; write(text: string): unknown } },
): void => {
  if (setup === null) return;
  const { code, file } = setup;
  if (to.terminal.isTTY !== true) {
    to.say(`  setup     the first account requires the code in ${file} (0600)`);
    return;
  }
  to.terminal.write(`  setup     the first account requires this code: ${code}\n`);
  to.terminal.write(`            The code is also in the file ${file} (0600).\n`);
};

/** The database opens while the rest of the daemon is loaded. */
const open = async (options: AppOptions, compiled: CodeCache): Promise<App> => {
  const begun = beginOpening(options);
  compiled.keepIn(join(options.config.home, 'cache'));
  const { openApp } = await import('./app.js').catch(async (error) => {
    await begun.end();
    throw error;
  });
  return openApp({ ...options, begun });
};

const startLines = (config: Config, { url, report }: App): string[] => {
  const isFirstStart = report.isNewHome || report.setupCode !== null;
  const models = report.models.filter((name) => name !== 'digest');
  const lines = [
    `Adjutant ${version}   home ${config.home}${report.isNewHome ? ' (new)' : ''}   node ${process.versions.node}`,
  ];
  if (report.masterKeyFile) {
    lines.push(
      '  created   keys/master.key (0600). Back it up: without it no secret can be decrypted.',
    );
  }
  if (report.isNewHome) lines.push(`  database  created, schema ${report.schema}`);
  else if (report.migrated.length > 0) {
    lines.push(`  database  migrated to schema ${report.schema}, snapshot ${report.snapshot}`);
  }
  lines.push(
    `  listening ${url}${config.page === 'off' ? '' : '   page /'}   explorer /swagger   ${reachText(config, report.publicUrl)}`,
    `  model     ${models.length > 0 ? models.join(', ') : 'none yet: the built-in digest answers'}`,
    ...report.settingFaults.map((fault) => `  setting   ${fault}`),
    ...diskLines(config.home),
    `Ready in ${(report.openedInMs / 1000).toFixed(1)} s.${isFirstStart ? ' Next, in another terminal: adjutant quickstart' : ''}`,
  );
  return lines;
};

/** With less free space nothing can be stored. */
const FULL_BYTES = 50 * 1024 ** 2;

const diskLines = (home: string): string[] => {
  const { bavail, bsize } = statfsSync(home);
  const free = bavail * bsize;
  if (free >= FULL_BYTES) return [];
  const room = `${Math.floor(free / 1024 ** 2)} MiB free`;
  return [
    `  disk      full: ${room}. Deliveries and changes are refused until disk space is freed`,
  ];
};

/** Which machines can reach the daemon, and the public address. */
const reachText = ({ host }: Config, publicUrl: string | null): string => {
  const isWide = !['127.0.0.1', 'localhost', '::1'].includes(host);
  if (isWide) return 'REACHABLE FROM OTHER MACHINES: put TLS in front';
  return publicUrl === null ? 'only this machine' : `public at ${publicUrl}`;
};

const translateRefusals = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw refusal(error);
  }
};

const refusal = (error: unknown): unknown => {
  if (error instanceof OpenRefused || error instanceof BadSetting) {
    return new StartRefused(error.message);
  }
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    // Messages of the file system already begin with the code.
    const { code, message } = error;
    return new StartRefused(message.startsWith(code) ? message : `${code}: ${message}`);
  }
  return error;
};

const isFull = (error: unknown): boolean =>
  isDiskFull(error) || (error instanceof Unavailable && error.isDiskFull);

const endSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
