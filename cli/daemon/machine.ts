import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { now } from '../clock.js';
import { ago } from '../times.js';
import { shortPath } from './environment.js';
import { type DoctorFinding, failFinding, okCheck, warnCheck } from './findings.js';

const GIB = 1024 ** 3;
const LOW_BYTES = GIB;
const FULL_BYTES = 50 * 1024 ** 2;
const LEEWAY_MS = 60_000;
const FOR_OTHERS = 0o077;

/** Findings about the machine and the home that need no daemon. */
export const lookAtMachine = (home: string): DoctorFinding[] => [
  okCheck('node', process.versions.node),
  ...(existsSync(home) ? [lookAtHome(home), ...lookAtKeys(home)] : []),
  lookAtDisk(home),
  lookAtClock(home),
];

const lookAtHome = (home: string): DoctorFinding => {
  const { mode, uid } = statSync(home);
  const at = `${shortPath(home)}, ${octal(mode)}`;
  if (!isWritable(home)) {
    return failFinding('home', `${at}, is not writable for you`, `chown -R "$(id -un)" ${home}`);
  }
  if (uid !== process.getuid?.()) {
    return warnCheck('home', `${at}, belongs to somebody else`, `chown -R "$(id -un)" ${home}`);
  }
  if (mode & FOR_OTHERS) {
    return warnCheck('home', `${at}: others on this machine can look in`, `chmod 700 ${home}`);
  }
  return okCheck('home', at);
};

/** The key that opens all secrets, and what else lies beside it. */
const lookAtKeys = (home: string): DoctorFinding[] => {
  const folder = join(home, 'keys');
  if (!existsSync(folder)) return [];
  const open = readdirSync(folder).filter((name) => statSync(join(folder, name)).mode & FOR_OTHERS);
  if (open.length === 0) return [okCheck('keys', 'for you alone')];
  const detail = `${open.join(', ')} can be read by others on this machine`;
  return [
    failFinding('keys', detail, `chmod 600 ${folder}/*   and see to it that nobody took a copy`),
  ];
};

const lookAtDisk = (home: string): DoctorFinding => {
  const { bavail, bsize } = statfsSync(nearestFolder(home));
  const free = bavail * bsize;
  const detail = `${(free / GIB).toFixed(1)} GB free`;
  if (free < FULL_BYTES)
    return failFinding('disk', detail, 'make room: nothing can be kept otherwise');
  if (free < LOW_BYTES)
    return warnCheck('disk', detail, 'make room, or keep less: ADJUTANT_RETENTION_DAYS');
  return okCheck('disk', detail);
};

/**
 * A clock that was set back makes times that were written lie in the future. Signatures with a time
 * in them are refused when it is off by more than five minutes.
 */
const lookAtClock = (home: string): DoctorFinding => {
  const written = ['adjutant.db', 'adjutant.db-wal'].map((name) => changedAt(join(home, name)));
  const newest = Math.max(changedAt(process.execPath), ...written);
  if (newest <= now() + LEEWAY_MS) return okCheck('clock', new Date(now()).toISOString());
  const newestAt = new Date(newest).toISOString();
  return failFinding(
    'clock',
    `it says ${new Date(now()).toISOString()}, and files here were written ${ago(newestAt)}`,
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

/** Milliseconds; 0 where there is no such file. */
const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const octal = (mode: number): string => `0${(mode & 0o777).toString(8)}`;
