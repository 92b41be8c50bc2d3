import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { ApiError } from '../../src/client/errors.js';
import type { Client } from '../../src/client/index.js';
import { sessionFile } from '../../src/client/session.js';
import { supportedNode } from '../../src/client/version.js';
import { shellWord } from '../../src/kernel/shellword.js';
import { nullIfRefused } from '../exit.js';
import { ago, now } from '../text.js';
import { isLocalUrl, shortPath } from './environment.js';
import { findPortHolder, holderText, type PortHolder } from './process.js';
import { checkReadiness, findReadiness, startCommandFor } from './readiness.js';

export interface DoctorFinding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** The remedy, ready to paste if possible. */
  remedy?: string;
}

const GRAVITY = { ok: 0, warn: 1, fail: 2 };

/**
 * Joins the findings of this machine and of the daemon. For a name in both, the more severe
 * findings are kept, or else those of this machine. The daemon may have several findings of one
 * name.
 */
export const joinFindings = (
  machine: DoctorFinding[],
  daemon: DoctorFinding[],
): DoctorFinding[] => {
  const gravity = (findings: DoctorFinding[], name: string): number =>
    Math.max(-1, ...findings.map((each) => (each.name === name ? GRAVITY[each.status] : -1)));
  return [
    ...machine.filter(({ name }) => gravity(machine, name) >= gravity(daemon, name)),
    ...daemon.filter(({ name }) => gravity(daemon, name) > gravity(machine, name)),
  ];
};

const finding =
  (status: DoctorFinding['status']) =>
  (name: string, detail: string, remedy?: string): DoctorFinding => ({
    name,
    status,
    detail,
    ...(remedy && { remedy }),
  });
export const okCheck = finding('ok');
export const warnCheck = finding('warn');
const failFinding = finding('fail');

const GIB = 1024 ** 3;
const LOW_BYTES = GIB;
const FULL_BYTES = 50 * 1024 ** 2;
const LEEWAY_MS = 60_000;
const FOR_OTHERS = 0o077;

/** Findings that need no daemon. */
export const checkMachine = (home: string): DoctorFinding[] => [
  okCheck('node', `${process.versions.node}, supported: ${supportedNode()}`),
  ...(existsSync(home) ? [lookAtHome(home), ...lookAtKeys(home)] : []),
  lookAtDisk(home),
  lookAtClock(home),
];

const lookAtHome = (home: string): DoctorFinding => {
  const { mode, uid } = statSync(home);
  const at = `${shortPath(home)}, ${octal(mode)}`;
  if (!isWritable(home)) {
    return failFinding('home', `${at}: not writable for you`, ownership(home));
  }
  if (uid !== process.getuid?.()) {
    return warnCheck('home', `${at}: owned by another user`, ownership(home));
  }
  if (mode & FOR_OTHERS) {
    return warnCheck(
      'home',
      `${at}: other users of this machine can read this file`,
      `chmod 700 ${shellWord(home)}`,
    );
  }
  return okCheck('home', at);
};

const ownership = (home: string): string => `chown -R "$(id -un)" ${shellWord(home)}`;

const lookAtKeys = (home: string): DoctorFinding[] => {
  const folder = join(home, 'keys');
  if (!existsSync(folder)) return [];
  const open = readdirSync(folder).filter((name) => statSync(join(folder, name)).mode & FOR_OTHERS);
  if (open.length === 0) return [okCheck('keys', 'private')];
  const detail = `${open.join(', ')} can be read by other users of this machine`;
  return [
    failFinding(
      'keys',
      detail,
      `chmod 600 ${shellWord(folder)}/*   and make sure that nobody took a copy`,
    ),
  ];
};

const lookAtDisk = (home: string): DoctorFinding => {
  const { bavail, bsize } = statfsSync(nearestFolder(home));
  const free = bavail * bsize;
  const detail =
    free < LOW_BYTES
      ? `${Math.floor(free / 1024 ** 2)} MiB free`
      : `${(free / GIB).toFixed(1)} GiB free`;
  if (free < FULL_BYTES)
    return failFinding('disk', detail, 'free disk space: no new data can be stored');
  if (free < LOW_BYTES)
    return warnCheck('disk', detail, 'free disk space, or keep less: ADJUTANT_RETENTION_DAYS');
  return okCheck('disk', detail);
};

/**
 * If the clock was set back, existing files have times in the future. Signatures with a timestamp
 * are refused if it differs by more than five minutes.
 */
const lookAtClock = (home: string): DoctorFinding => {
  const written = ['adjutant.db', 'adjutant.db-wal'].map((name) => changedAt(join(home, name)));
  const newest = Math.max(changedAt(process.execPath), ...written);
  if (newest <= now() + LEEWAY_MS) return okCheck('clock', new Date(now()).toISOString());
  const newestAt = new Date(newest).toISOString();
  return failFinding(
    'clock',
    `the clock shows ${new Date(now()).toISOString()}, but files here were written ` +
      `${ago(newestAt)}`,
    'set the clock: timedatectl set-ntp true',
  );
};

const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const nearestFolder = (path: string): string =>
  existsSync(path) ? path : nearestFolder(dirname(path));

/** Milliseconds; 0 if the file does not exist. */
const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const octal = (mode: number): string => `0${(mode & 0o777).toString(8)}`;

type ServicePart = Awaited<ReturnType<Client['health']['detailed']>>['parts'][number];

/** `home` is that of the flag. */
export const checkService = async (
  client: Client,
  home: string | undefined,
): Promise<DoctorFinding[]> => {
  const { url } = client;
  const holder = isLocalUrl(url) ? findPortHolder(parsePort(url)) : null;
  const readiness = await findReadiness(url);
  if (readiness.is === 'wrongScheme') {
    return [failFinding('daemon', `${url} does not reply: ${readiness.reason}`, OTHER_ADDRESS)];
  }
  if (readiness.is === 'silent') return [notRunning({ url, home }, holder)];
  if (readiness.is === 'otherProgram') return [taken({ url, home }, holder)];
  const [{ parts, version }, inside] = [await client.health.detailed(), await lookInside(client)];
  const isThere = okCheck('daemon', `${version} at ${url}${holder ? `, pid ${holder.pid}` : ''}`);
  const ready =
    readiness.is === 'ready'
      ? okCheck('ready', 'the daemon accepts work')
      : failFinding('ready', `no: ${readiness.failing.join(', ')}`, LOGS);
  const found = Array.isArray(inside)
    ? inside
    : [...parts.map(ofPart), ...(inside ? [inside] : [])];
  return [isThere, ready, ...joinFindings(await exposure(url, holder), found)];
};

/**
 * Returns the findings of the daemon, or the finding that it cannot list them, or null if only
 * admins may read them.
 */
const lookInside = async (client: Client): Promise<DoctorFinding[] | DoctorFinding | null> => {
  try {
    const reply = await nullIfRefused([401, 403], client.doctor.look());
    if (reply === null) return null;
    return reply.findings.map(({ remedy, ...of }) => ({ ...of, ...(remedy && { remedy }) }));
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode < 500) throw error;
    return failFinding('findings', `the daemon cannot list them: ${error.message}`, LOGS);
  }
};

const LOGS = 'adjutant logs --last 50';
const OTHER_ADDRESS = 'adjutant doctor --server <url>';

interface Place {
  url: string;
  home: string | undefined;
}

const notRunning = ({ url, home }: Place, holder: PortHolder | null): DoctorFinding =>
  holder === null
    ? failFinding('daemon', `no reply at ${url}`, startCommandFor(url, home))
    : failFinding('daemon', `no reply at ${url}, held${holderText(holder)}`, 'adjutant restart');

const taken = ({ url, home }: Place, holder: PortHolder | null): DoctorFinding => {
  const next = new URL(url);
  next.port = String(parsePort(url) + 1);
  return failFinding(
    'daemon',
    `${url} is already in use${holderText(holder)}, which is not Adjutant`,
    `free the port, or: ${startCommandFor(next.href, home)}`,
  );
};

const REMEDIES: Record<string, string> = {
  database: 'adjutant logs --last 50   The disk must be writable and not full',
  queue: 'adjutant logs --last 50   Running agents: adjutant agents list --status running',
  disk: 'free disk space: no new data can be stored',
  models: 'adjutant models health, then: adjutant models test <model>',
  capabilities: 'correct the setting, then: adjutant restart',
  tunnel: 'adjutant tunnel check, then: adjutant tunnel get',
  confinement: 'install bubblewrap (apt install bubblewrap), then: adjutant restart',
};
const SEVERITY = { ok: 'ok', warn: 'warn', down: 'fail' } as const;

const ofPart = ({ name, status, detail }: ServicePart): DoctorFinding => ({
  name,
  status: SEVERITY[status],
  detail: detail || (status === 'ok' ? 'ok' : 'not ok; for details, log in: adjutant login'),
  ...(status !== 'ok' && { remedy: REMEDIES[name] ?? LOGS }),
});

/** Checks whether the daemon replies at the other addresses of this machine. */
const exposure = async (url: string, holder: PortHolder | null): Promise<DoctorFinding[]> => {
  if (!isLocalUrl(url)) return [];
  const others = addresses().map((host) => `http://${host}:${parsePort(url)}`);
  const readiness = await Promise.all(others.map(checkReadiness));
  const open = others.filter((_, at) => ['ready', 'not_ready'].includes(readiness[at]?.is ?? ''));
  const isOpen =
    holder !== null && readProcessSetting(holder.pid, 'ADJUTANT_REGISTRATION') === 'open';
  return [
    open.length === 0
      ? okCheck('exposure', 'only this machine can reach the daemon')
      : warnCheck(
          'exposure',
          `other machines can reach the daemon without TLS: ${open.join(', ')}`,
          'adjutant restart --host 127.0.0.1   and add a proxy with TLS',
        ),
    ...(isOpen ? [registrationIsOpen(open.length > 0)] : []),
  ];
};

const registrationIsOpen = (isReached: boolean): DoctorFinding => {
  const make = isReached ? failFinding : warnCheck;
  return make(
    'registration',
    'everyone who can reach the daemon can create an account',
    'unset ADJUTANT_REGISTRATION, then: adjutant restart',
  );
};

const addresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((found) => found ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));

/** Returns a setting of a running daemon of this user, if the system shows it. */
const readProcessSetting = (pid: number, name: string): string | undefined => {
  try {
    const settings = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return settings.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  } catch {
    return undefined;
  }
};

const parsePort = (url: string): number => Number(new URL(url).port || 80);

/**
 * Makes the home, the keys and the session file private. Skips links and files of other users.
 * Returns a sentence for each change.
 */
export const repairHome = (home: string): string[] => {
  const keys = join(home, 'keys');
  return [home, keys, ...filesIn(keys), sessionFile()].flatMap(close);
};

const close = (path: string): string[] => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const isOwn = found?.uid === process.getuid?.();
  if (!found || !isOwn || found.isSymbolicLink() || (found.mode & FOR_OTHERS) === 0) return [];
  const mode = found.isDirectory() ? 0o700 : 0o600;
  chmodSync(path, mode);
  const [before, after] = [found.mode & 0o777, mode].map((each) => `0${each.toString(8)}`);
  return [`Repaired: ${shortPath(path)} is now ${after}, was ${before}.`];
};

const filesIn = (folder: string): string[] => {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder).map((name) => join(folder, name));
};
