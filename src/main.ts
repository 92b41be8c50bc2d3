import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { App, AppOptions } from './app.js';
import { BadSetting, type Config, readConfig, takeNotifySettings } from './config.js';
import { systemClock } from './kernel/clock.js';
import { type CompiledCode, keepsNone } from './kernel/codecache.js';
import { diskFullSentence, isDiskFull } from './kernel/failure.js';
import { createLog } from './kernel/log.js';
import { keepPrivate } from './kernel/private.js';
import { releaseWhenIdle } from './kernel/release.js';
import { createLogRing } from './kernel/ring.js';
import { openServiceManager } from './kernel/sdnotify.js';
import { beginOpening } from './open.js';
import { OpenRefused, Unavailable } from './store/engine/protocol.js';
import { version } from './version.js';

/** The daemon cannot start; the message is one line for the operator. */
export class StartRefused extends Error {
  override name = 'StartRefused';
}

/**
 * The daemon in this process, until SIGTERM or SIGINT has ended it cleanly. `say` gets the lines of
 * a start; `compiled` keeps the code for the next one. StartRefused where it cannot begin.
 */
export const runDaemon = async (
  flags: Partial<Config>,
  say: (line: string) => void,
  compiled: CompiledCode = keepsNone,
): Promise<void> => {
  keepPrivate();
  // Ours, measured: where all cores are busy, a young collection waits for its own helpers.
  setFlagsFromString('--no-parallel-scavenge');
  // Ours, measured: a collection when the heap has grown by 40 % costs a load nothing and saves 20 to
  // 80 MB; by default V8 waits until it has doubled or more.
  setFlagsFromString('--heap-growing-percent=40');
  // A reader that has gone, or a full disk, ends a command that writes there, but no daemon.
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error').on('error', () => undefined);
  }
  const config = translateRefusals(() => readConfig(flags));
  const recent = createLogRing(systemClock.now());
  const log = createLog(config.logLevel, { ring: recent });
  const lost = (error: Error): void => {
    log.fatal({ err: error }, 'the database thread ended; the daemon ends too');
    process.exit(1);
  };
  // Node would print all that hangs on the error, which may be a request with its secrets.
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'the daemon broke, and ends');
    process.exit(1);
  });
  const notify = takeNotifySettings();
  const app = await open({ config, log, recent, onLost: lost }, compiled).catch((error) => {
    throw isFull(error) ? new StartRefused(diskFullSentence(config.home)) : refusal(error);
  });
  // Whoever reads that it listens may end it at once.
  const ended = endSignal();
  const manager = openServiceManager(notify, (error) =>
    log.error({ err: error }, 'the service manager was not notified'),
  );
  for (const line of startLines(config, app)) say(line);
  tellSetupCode(app.report.setupCode, { say, terminal: process.stderr });
  manager.ready();
  const stopReleasing = releaseWhenIdle((error) =>
    log.warn({ err: error }, 'memory was not given back'),
  );
  await ended;
  stopReleasing();
  log.info('draining');
  manager.stopping();
  await app.close();
  compiled.keep();
};

/**
 * The code goes to a terminal alone, past the log and past `say`, whose lines may be kept in a file;
 * elsewhere one line names the file that holds it.
 */
export const tellSetupCode = (
  setup: App['report']['setupCode'],
  to: { say(line: string): void; terminal: { isTTY?: boolean; write(text: string): unknown } },
): void => {
  if (setup === null) return;
  const { code, file } = setup;
  if (to.terminal.isTTY !== true) {
    to.say(`  setup     the first account takes the code in ${file} (0600), once`);
    return;
  }
  to.terminal.write(`  setup     the first account takes this code, once: ${code}\n`);
  to.terminal.write(`            It also stands in ${file} (0600).\n`);
};

/** While the rest of the daemon is loaded, the database opens. */
const open = async (options: AppOptions, compiled: CompiledCode): Promise<App> => {
  const begun = beginOpening(options);
  compiled.keepIn(join(options.config.home, 'cache'));
  const { openApp } = await import('./app.js').catch(async (error) => {
    await begun.end();
    throw error;
  });
  return openApp({ ...options, begun });
};

const startLines = (config: Config, { url, report }: App): string[] => {
  const models = report.models.filter((name) => name !== 'digest');
  const lines = [
    `Adjutant ${version}   home ${config.home}${report.isNewHome ? ' (new)' : ''}   node ${process.versions.node}`,
  ];
  if (report.masterKeyFile) {
    lines.push('  made      keys/master.key (0600). Without it no secret can be read: back it up.');
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
    `Ready in ${(report.openedInMs / 1000).toFixed(1)} s. Next, in another terminal: adjutant quickstart`,
  );
  return lines;
};

/** Ours: with less room nothing of any size can be kept. */
const FULL_BYTES = 50 * 1024 ** 2;

const diskLines = (home: string): string[] => {
  const { bavail, bsize } = statfsSync(home);
  const free = bavail * bsize;
  if (free >= FULL_BYTES) return [];
  const room = `${Math.floor(free / 1024 ** 2)} MiB free`;
  return [`  disk      full: ${room}. Deliveries and changes are refused until there is room`];
};

/** Returns the machines that reach the daemon, and the address of the others. */
const reachText = ({ host }: Config, publicUrl: string | null): string => {
  const isWide = !['127.0.0.1', 'localhost', '::1'].includes(host);
  if (isWide) return 'BEYOND THIS MACHINE: put TLS in front';
  return publicUrl === null ? 'only this machine' : `others at ${publicUrl}`;
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
    // Those of the file system begin with their code already.
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
