import type { Exposure } from '../../accounts/module.js';
import type { ModelState } from '../../agents/module.js';
import type { CapabilityFault } from '../../capabilities/module.js';
import type { IncompletePlatform, UnreadMessages } from '../../channels/module.js';
import type { OriginalsReport } from '../../documents/module.js';
import { isOfWatching } from '../../folders/module.js';
import { isLoopbackHost } from '../../kernel/clientaddress.js';
import { iso } from '../../kernel/clock.js';
import {
  type SeenProxies,
  UNNAMED_PROXY_REMEDY,
  UNREADABLE_ADDRESS_REMEDY,
} from '../../kernel/proxywatch.js';
import type { EmbedderReport } from '../../knowledge/module.js';
import type { EngineReport } from '../../voice/module.js';
import { remedies } from '../tunnel/stage.js';
import type { Finding } from './contract.js';
import type { UnreachedMailbox } from './queries.js';

const LEEWAY_MS = 60_000;
const DAY_MS = 24 * 3600 * 1000;
/** Ours: to lose more than a week of work deserves a warning. */
const STALE_DAYS = 7;

export const okFinding = (name: string, detail: string): Finding => {
  return { name, status: 'ok', detail, remedy: null };
};
export const warnFinding = (name: string, detail: string, remedy: string): Finding => {
  return { name, status: 'warn', detail, remedy };
};
export const failedFinding = (name: string, detail: string, remedy: string): Finding => {
  return { name, status: 'fail', detail, remedy };
};

/** The remedy of a full disk. */
export const ROOM = 'make room: nothing can be kept otherwise';

/** Ours: so many faults of capabilities are reported. */
const SHOWN_FAULTS = 10;

/** Reports the models that lack what they need and are not reported as down, and what is damaged. */
export const capabilityFindings = (faults: CapabilityFault[], states: ModelState[]): Finding[] => {
  const down = states.filter(({ status }) => status === 'down').map(({ name }) => `models/${name}`);
  const others = faults.filter(({ name }) => !down.includes(name));
  return others.slice(0, SHOWN_FAULTS).map(({ name, why, remedy }) =>
    // The command line shows one finding of each name.
    warnFinding(`capability ${name}`.slice(0, 60), why.slice(0, 1000), remedy.slice(0, 500)),
  );
};

/** Reports what unauthenticated clients can do with the present configuration. */
export const exposureFindings = (of: Exposure & { port: number }): Finding[] => {
  const isWide = !isLoopbackHost(of.host);
  const at = `${of.host}:${of.port}`;
  return [
    isWide && of.trustedProxies.length === 0
      ? warnFinding(
          'exposure',
          `it listens on ${at}, beyond this machine, and no proxy with TLS is named`,
          'adjutant restart --host 127.0.0.1   or name the proxy: ADJUTANT_TRUSTED_PROXIES',
        )
      : okFinding('exposure', `${at}${of.publicUrl === null ? '' : `, public as ${of.publicUrl}`}`),
    ...(of.registration === 'open' ? [openTo(isWide || of.publicUrl !== null)] : []),
    ...(of.publicUrl !== null && of.trustedProxies.length === 0 ? [NAMELESS] : []),
  ];
};

/** Reports a proxy that the environment names and the daemon does not use. */
export const unusedProxyFindings = (note: string | null): Finding[] =>
  note === null
    ? []
    : [
        warnFinding(
          'proxy',
          `${note}: its requests go directly, and fail where only the proxy may go out`,
          'give the daemon a direct way out, or unset the variable for it: see "Proxies" in docs/settings.md',
        ),
      ];

/**
 * Reports a proxy in front of the public address that adds no header of its own; null: no request of
 * the doctor arrived.
 */
export const frontFindings = (arrivesUnmarked: boolean | null): Finding[] =>
  arrivesUnmarked === true
    ? [
        failedFinding(
          'front',
          'a request to the public address arrives without a header of a proxy, as one of this machine would',
          remedies.addresses,
        ),
      ]
    : [];

/** Reports proxies that are not set up, and those that state no address of the client. */
export const proxyFindings = ({ unnamed, unreadable }: SeenProxies): Finding[] => [
  ...(unnamed === null
    ? []
    : [
        warnFinding(
          'proxy',
          `a request came through a proxy that is not set up (${unnamed}); it does not count as local`,
          UNNAMED_PROXY_REMEDY,
        ),
      ]),
  ...(unreadable === null
    ? []
    : [
        warnFinding(
          'addresses',
          `a trusted proxy sent "${unreadable}" in place of the client's address, so all its clients share the limits of one`,
          UNREADABLE_ADDRESS_REMEDY,
        ),
      ]),
];

const openTo = (isReached: boolean): Finding =>
  (isReached ? failedFinding : warnFinding)(
    'registration',
    'anybody who reaches it may make an account',
    'unset ADJUTANT_REGISTRATION, then: adjutant restart',
  );

const NAMELESS = warnFinding(
  'addresses',
  'it has a public address and trusts no proxy, as behind an ssh forward: all callers look like one',
  'where a proxy names the caller: ADJUTANT_TRUSTED_PROXIES; with ssh there is no remedy but strong passwords',
);

/** Reports a clock that was set back, so that stored times lie in the future. */
export const clockOf = (now: number, newestAt: string | null): Finding => {
  const aheadMs = newestAt === null ? 0 : Date.parse(newestAt) - now;
  if (aheadMs <= LEEWAY_MS) return okFinding('clock', new Date(now).toISOString());
  return failedFinding(
    'clock',
    `it says ${new Date(now).toISOString()}, and the database was written at ${newestAt}`,
    'set the clock: timedatectl set-ntp true',
  );
};

/** Reports what makes vectors of texts. */
export const embedderOf = ({ isWell, detail }: EmbedderReport): Finding =>
  isWell
    ? okFinding('embedder', detail)
    : warnFinding(
        'embedder',
        `${detail}: texts are found by words alone`.slice(0, 1000),
        'adjutant knowledge stats   another one: adjutant models routing set embeddings --primary <model>',
      );

/** Reports the engines that transcribe speech; none is no fault, for who does not need it. */
export const voiceOf = ({ engines, hasFfmpeg }: EngineReport): Finding => {
  const files = hasFfmpeg ? '' : '; without ffmpeg no WebM, M4A or AMR is read';
  const [first, ...others] = engines;
  if (first === undefined) return okFinding('voice', `nothing here transcribes speech${files}`);
  const then = others.length > 0 ? `, then by ${others.join(', ')}` : '';
  return okFinding('voice', `speech is transcribed by ${first}${then}${files}`);
};

/** Reports originals of documents that are missing or changed; nothing if there are none at all. */
export const originalsOf = ({ total, compared, damaged }: OriginalsReport): Finding[] => {
  if (total === 0) return [];
  const seen = compared === total ? `all ${total}` : `${compared} of ${total}, no time for more,`;
  if (damaged.length === 0) {
    return [okFinding('documents', `${seen} originals compared with their hashes, no damage`)];
  }
  const named = damaged.slice(0, 5).map(({ id, filename }) => `${id} (${filename.slice(0, 60)})`);
  const more = damaged.length > named.length ? ` and ${damaged.length - named.length} more` : '';
  return [
    failedFinding(
      'documents',
      `originals are missing or changed: ${named.join(', ')}${more}; ${seen} compared`,
      'put the files back from a backup: adjutant backup list',
    ),
  ];
};

/**
 * Reports folders of the machine whose last scan failed, and those that are read though their changes
 * are seen late; nothing if there are none.
 */
export const foldersOf = (failing: { path: string; error: string | null }[]): Finding[] =>
  failing.map(({ path, error }) => {
    const shown = path.slice(0, 300);
    const again = `adjutant knowledge index ${shellQuoted(path)} --on-server`;
    const setting = /fs\.inotify\.\w+/.exec(error ?? '')?.[0];
    if (error === null || !isOfWatching(error)) {
      const text = `${shown} is not read: ${error}`.slice(0, 1000);
      return warnFinding('folders', text, `adjutant knowledge folders list   again: ${again}`);
    }
    const late = `${shown} is read, but changes are seen late: ${error}`.slice(0, 1000);
    return setting === undefined
      ? warnFinding('folders', late, 'Index the folders in it that change, one by one')
      : warnFinding('folders', late, `sudo sysctl ${setting}=${INOTIFY_LIMIT}   then: ${again}`);
  });

/** Writes a path as one word of a shell. */
const shellQuoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

/** The limit that editors and synchronizers ask for, of folders or of programs. */
const INOTIFY_LIMIT = 524_288;

/** Reports mailboxes that are watched and were not reached for long; nothing if there are none. */
export const mailboxesOf = (unreached: UnreachedMailbox[]): Finding[] =>
  unreached.map(({ address, error }) =>
    warnFinding(
      'mailboxes',
      `${address} is watched and was not reached for an hour: ${error}`.slice(0, 1000),
      `adjutant email accounts test ${address}`,
    ),
  );

/**
 * Reports each model that fails or cools down; nothing if all are well. One whose file is damaged or
 * gone is not helped by another key: its fault says what to do.
 */
export const modelsOf = (states: ModelState[], faults: CapabilityFault[]): Finding[] =>
  states.flatMap(({ name, status, lastError }) => {
    const because = `${lastError}`.slice(0, 1000);
    if (status === 'down') {
      const fault = faults.find((each) => each.name === `models/${name}`);
      if (fault) return [failedFinding(`model ${name}`, because, fault.remedy.slice(0, 500))];
      const remedy = `adjutant models test ${name}   a refused key: adjutant models update ${name} --key-file -`;
      return [failedFinding(`model ${name}`, because, remedy)];
    }
    if (status !== 'cooling') return [];
    return [
      warnFinding(
        `model ${name}`,
        because,
        'wait, others answer meanwhile: adjutant models health',
      ),
    ];
  });

/**
 * Reports the age of the newest backup whose file is not known to be removed. A young installation
 * has nothing to lose yet: `begunAt` is the time of its first account.
 */
export const backupOf = (of: {
  now: number;
  newestAt: string | null;
  begunAt: string | null;
}): Finding => {
  const { now, newestAt, begunAt } = of;
  const days = Math.floor((now - Date.parse(newestAt ?? begunAt ?? iso(now))) / DAY_MS);
  if (days <= STALE_DAYS) return okFinding('backup', newestAt ?? 'none yet');
  const detail =
    newestAt === null ? `none in ${days} days, and none before` : `none for ${days} days`;
  return warnFinding(
    'backup',
    detail,
    'adjutant backup create   by itself: adjutant backup schedule --daily',
  );
};

/** Reports the messages that were dropped because they could not be read; nothing if there are none. */
export const unreadOf = (unread: UnreadMessages[]): Finding[] =>
  unread.map(({ kind, count, reason }) => {
    const messages = count === 1 ? '1 message was' : `${count} messages were`;
    const detail = `${messages} not read since the start. The last one: ${reason}`;
    return warnFinding(`messages of ${kind}`, detail, 'adjutant logs --level warn');
  });

/**
 * Reports each platform that has linked channels but is not set up, or has nothing for messages after
 * the time in which it accepts free text; nothing if all are set up.
 */
export const platformsOf = (unset: IncompletePlatform[]): Finding[] =>
  unset.map(({ kind, channels, missing, sendsNoneLate }) => {
    const linked = channels === 1 ? '1 channel is' : `${channels} channels are`;
    if (sendsNoneLate && missing.length === 0) {
      const late = `${linked} linked there, and no template is set: what is sent later than a day after the last message from there fails`;
      return warnFinding(`platform ${kind}`, late, `adjutant channels setup ${kind}`);
    }
    const lacking =
      missing.length === 0
        ? 'it is not set up'
        : `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set`;
    const detail = `${linked} linked there, and ${lacking}: nothing gets through`;
    return warnFinding(`platform ${kind}`, detail, `adjutant channels setup ${kind}`);
  });
