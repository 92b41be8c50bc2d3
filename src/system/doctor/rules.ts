import type { Exposure } from '../../accounts/module.js';
import type { ModelState } from '../../agents/module.js';
import type { CapabilityFault } from '../../capabilities/module.js';
import type { IncompletePlatform, UnreadMessages } from '../../channels/module.js';
import type { OriginalsReport } from '../../documents/module.js';
import { isWatchFault } from '../../folders/module.js';
import { isLoopbackHost } from '../../kernel/clientaddress.js';
import { iso } from '../../kernel/clock.js';
import {
  type DetectedProxies,
  UNNAMED_PROXY_REMEDY,
  UNREADABLE_ADDRESS_REMEDY,
} from '../../kernel/proxywatch.js';
import type { EmbedderReport } from '../../knowledge/module.js';
import { KEY_REFUSED } from '../../providers/llm/wire.js';
import type { EngineReport } from '../../voice/module.js';
import { remedies } from '../tunnel/stage.js';
import type { Finding } from './contract.js';
import type { FailingMailbox } from './queries.js';

const LEEWAY_MS = 60_000;
const DAY_MS = 24 * 3600 * 1000;
/** Losing more than a week of work deserves a warning. */
const STALE_DAYS = 7;

export const okFinding = (name: string, detail: string): Finding => {
  return { name, status: 'ok', detail, remedy: null };
};
export const warnFinding = (name: string, detail: string, remedy: string): Finding => {
  return { name, status: 'warn', detail: withoutCommand(detail), remedy };
};
export const failedFinding = (name: string, detail: string, remedy: string): Finding => {
  return { name, status: 'fail', detail: withoutCommand(detail), remedy };
};
/** Errors may end with a command, as in `Its file is damaged. Reinstall it with: …`. */
const withoutCommand = (detail: string): string =>
  detail.replace(/\. [A-Z][^.]*: adjutant .*$/, '');

export const DISK_FULL_REMEDY = 'free disk space: nothing can be stored otherwise';

const MAX_FAULTS = 10;

/** Damaged capabilities, and models that lack a requirement and are not reported as down. */
export const capabilityFindings = (faults: CapabilityFault[], states: ModelState[]): Finding[] => {
  const down = states.filter(({ status }) => status === 'down').map(({ name }) => `models/${name}`);
  const others = faults.filter(({ name }) => !down.includes(name));
  return others.slice(0, MAX_FAULTS).map(({ name, why, remedy }) =>
    // The command line shows one finding per name.
    warnFinding(`capability ${name}`.slice(0, 60), why.slice(0, 1000), remedy.slice(0, 500)),
  );
};

/** What unauthenticated clients can do with the current configuration. */
export const exposureFindings = (of: Exposure & { port: number }): Finding[] => {
  const isWide = !isLoopbackHost(of.host);
  const at = `${of.host}:${of.port}`;
  return [
    isWide && of.trustedProxies.length === 0
      ? warnFinding(
          'exposure',
          `the daemon listens on ${at}, which other machines can reach, and no TLS proxy is configured`,
          'adjutant restart --host 127.0.0.1   or set ADJUTANT_TRUSTED_PROXIES to the proxy',
        )
      : okFinding('exposure', `${at}${of.publicUrl === null ? '' : `, public as ${of.publicUrl}`}`),
    ...(of.registration === 'open' ? [openTo(isWide || of.publicUrl !== null)] : []),
    ...(of.publicUrl !== null && of.trustedProxies.length === 0 ? [NAMELESS] : []),
  ];
};

/** A proxy in the environment that the daemon does not use. */
export const unusedProxyFindings = (note: string | null): Finding[] =>
  note === null
    ? []
    : [
        warnFinding(
          'proxy',
          `${note}. Requests are sent directly, and fail if only the proxy may connect to the internet`,
          'allow direct connections of the daemon, or unset the variable for it: see "Proxies" in docs/settings.md',
        ),
      ];

/** `arrivesUnmarked` is null if no request of the doctor arrived. */
export const frontFindings = (arrivesUnmarked: boolean | null): Finding[] =>
  arrivesUnmarked === true
    ? [
        failedFinding(
          'front',
          'a request to the public address arrives without a proxy header, so it looks like a request of this machine',
          remedies.addresses,
        ),
      ]
    : [];

/** Proxies that are not configured, and those that send no client address. */
export const proxyFindings = ({ unnamed, unreadable }: DetectedProxies): Finding[] => [
  ...(unnamed === null
    ? []
    : [
        warnFinding(
          'proxy',
          `a request came through a proxy that is not configured (${unnamed.mark}, last at ${unnamed.at}). It does not count as local. A restart clears this warning`,
          UNNAMED_PROXY_REMEDY,
        ),
      ]),
  ...(unreadable === null
    ? []
    : [
        warnFinding(
          'addresses',
          `a trusted proxy sent "${unreadable}" instead of a client address. All of its clients share one rate limit`,
          UNREADABLE_ADDRESS_REMEDY,
        ),
      ]),
];

const openTo = (isReached: boolean): Finding =>
  (isReached ? failedFinding : warnFinding)(
    'registration',
    'anybody who can reach the daemon can create an account',
    'unset ADJUTANT_REGISTRATION, then: adjutant restart',
  );

const NAMELESS = warnFinding(
  'addresses',
  'there is a public address but no trusted proxy, as with an ssh forward. All clients share one address',
  'if a proxy sends the client address, set ADJUTANT_TRUSTED_PROXIES. With ssh, use strong passwords',
);

/** If the clock was set back, stored times are in the future. */
export const clockFinding = (now: number, newestAt: string | null): Finding => {
  const aheadMs = newestAt === null ? 0 : Date.parse(newestAt) - now;
  if (aheadMs <= LEEWAY_MS) return okFinding('clock', new Date(now).toISOString());
  return failedFinding(
    'clock',
    `the clock is at ${new Date(now).toISOString()}, but the database was written at ${newestAt}`,
    'set the clock: timedatectl set-ntp true',
  );
};

export const embedderFinding = ({ isWell, detail }: EmbedderReport): Finding =>
  isWell
    ? okFinding('embedder', detail)
    : warnFinding(
        'embedder',
        `${detail}: only full-text search works`.slice(0, 1000),
        'adjutant knowledge stats   To use another one: adjutant models routing set embeddings --primary <model>',
      );

/** Missing engines are not a fault, since transcription is optional. */
export const voiceFinding = ({ engines, hasFfmpeg }: EngineReport): Finding => {
  const files = hasFfmpeg
    ? '; ffmpeg is installed'
    : '; without ffmpeg, WebM, M4A and AMR cannot be read';
  const [first, ...others] = engines;
  if (first === undefined) return okFinding('voice', `no engine transcribes speech${files}`);
  const then = others.length > 0 ? `, then by ${others.join(', ')}` : '';
  return okFinding('voice', `speech is transcribed by ${first}${then}${files}`);
};

export const originalFindings = ({ total, compared, damaged }: OriginalsReport): Finding[] => {
  if (total === 0) return [];
  const seen = compared === total ? `all ${total}` : `${compared} of ${total}`;
  const limit = compared === total ? '' : ' (time limit reached)';
  if (damaged.length === 0) {
    return [okFinding('documents', `${seen} originals match their hashes${limit}`)];
  }
  const named = damaged.slice(0, 5).map(({ id, filename }) => `${id} (${filename.slice(0, 60)})`);
  const more = damaged.length > named.length ? ` and ${damaged.length - named.length} more` : '';
  return [
    failedFinding(
      'documents',
      `originals are missing or changed: ${named.join(', ')}${more}; ${seen} compared${limit}`,
      'restore the files from a backup: adjutant backup list',
    ),
  ];
};

/** Folders whose last scan failed, and those whose changes are noticed late. */
export const folderFindings = (failing: { path: string; error: string | null }[]): Finding[] =>
  failing.map(({ path, error }) => {
    const shown = path.slice(0, 300);
    const again = `adjutant knowledge index ${shellQuoted(path)} --on-server`;
    const setting = /fs\.inotify\.\w+/.exec(error ?? '')?.[0];
    if (error === null || !isWatchFault(error)) {
      const text = `${shown} cannot be read: ${error}`.slice(0, 1000);
      return warnFinding('folders', text, `adjutant knowledge folders list   To retry: ${again}`);
    }
    const late = `${shown} is read, but changes are noticed late: ${error}`.slice(0, 1000);
    return setting === undefined
      ? warnFinding('folders', late, 'index only the subfolders that change, one by one')
      : warnFinding('folders', late, `sudo sysctl ${setting}=${INOTIFY_LIMIT}   then: ${again}`);
  });

/** As one word of a shell. */
const shellQuoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

/** The value that editors and synchronization programs recommend. */
const INOTIFY_LIMIT = 524_288;

/** Watched or not: the last visit of each failed. */
export const mailboxFindings = (failing: FailingMailbox[]): Finding[] =>
  failing.map(({ address, status, error }) =>
    warnFinding(
      'mailboxes',
      `${address} ${status === 'needs_login' ? 'needs a new login' : 'fails'}: ${error}`.slice(
        0,
        1000,
      ),
      `adjutant email accounts test ${address}`,
    ),
  );

/** Models that fail or cool down. For a damaged or missing file, the fault contains the remedy. */
export const modelFindings = (states: ModelState[], faults: CapabilityFault[]): Finding[] =>
  states.flatMap(({ name, status, lastError }) => {
    const because = `${lastError}`.slice(0, 1000);
    if (status === 'down') {
      const fault = faults.find((each) => each.name === `models/${name}`);
      if (fault) return [failedFinding(`model ${name}`, because, fault.remedy.slice(0, 500))];
      const key = `   For a refused key: adjutant models update ${name} --key-file -`;
      const remedy = `adjutant models test ${name}${because.includes(KEY_REFUSED) ? key : ''}`;
      return [failedFinding(`model ${name}`, because, remedy)];
    }
    if (status !== 'cooling') return [];
    return [
      warnFinding(
        `model ${name}`,
        because,
        'wait; other models are used meanwhile: adjutant models health',
      ),
    ];
  });

/** `begunAt` is the time of the first account: a new installation has nothing to lose yet. */
export const backupFinding = (of: {
  now: number;
  newestAt: string | null;
  begunAt: string | null;
}): Finding => {
  const { now, newestAt, begunAt } = of;
  const days = Math.floor((now - Date.parse(newestAt ?? begunAt ?? iso(now))) / DAY_MS);
  if (days <= STALE_DAYS) return okFinding('backup', newestAt ?? 'none yet');
  const detail =
    newestAt === null ? `no backup in ${days} days, and none before` : `no backup for ${days} days`;
  return warnFinding(
    'backup',
    detail,
    'adjutant backup create   To schedule: adjutant backup schedule --daily',
  );
};

export const unreadFindings = (unread: UnreadMessages[]): Finding[] =>
  unread.map(({ kind, count, reason }) => {
    const messages = count === 1 ? '1 message was' : `${count} messages were`;
    const detail = `${messages} unreadable since the start. Last reason: ${reason}`;
    return warnFinding(`messages of ${kind}`, detail, 'adjutant logs --level warn');
  });

/**
 * Platforms that have linked channels but are not set up, or that have no template for messages after
 * the time in which they accept free text.
 */
export const platformFindings = (unset: IncompletePlatform[]): Finding[] =>
  unset.map(({ kind, channels, missing, sendsNoneLate }) => {
    const linked = channels === 1 ? '1 channel is' : `${channels} channels are`;
    if (sendsNoneLate && missing.length === 0) {
      const late = `${linked} linked, but no template is set. Messages fail if they are sent more than a day after the last received one`;
      return warnFinding(`platform ${kind}`, late, `adjutant channels setup ${kind}`);
    }
    const lacking =
      missing.length === 0
        ? 'it is not set up'
        : `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set`;
    const detail = `${linked} linked, but ${lacking}. No message gets through`;
    return warnFinding(`platform ${kind}`, detail, `adjutant channels setup ${kind}`);
  });
