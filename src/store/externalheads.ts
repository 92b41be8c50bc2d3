import { accessSync, constants, existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { iso, systemClock } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import { openSyslog, parseSyslog } from '../kernel/syslog.js';
import { readTail } from './audit/headlines.js';
import { logAudit } from './auditlog.js';
import { type AuditReport, OpenRefused } from './engine/protocol.js';

export interface ExternalHeads {
  file: string | null;
  syslog: { to: string; failure(): string | null } | null;
  audited(report: AuditReport): void;
}

interface HeadsSetting {
  name: string;
  value: string | null;
  home: string;
}

/** Facility log audit, severity informational (RFC 5424, 6.2.1). */
const FACILITY = 13;
const SEVERITY = 6;
/** SD-ID with the example enterprise number of RFC 5612, because none is registered. */
const DATA_ID = 'auditHead@32473';

export const openExternalHeads = ({ name, value, home }: HeadsSetting, log: Log): ExternalHeads => {
  const say = logAudit(log);
  if (value === null) return { file: null, syslog: null, audited: say };
  const server = parseSyslog(value);
  if (!server) {
    const fault = faultOfFile(resolve(value), home);
    if (fault !== null) throw new OpenRefused(`${name} ${fault} (got "${value}")`);
    return { file: resolve(value), syslog: null, audited: say };
  }
  const { send, failure } = openSyslog(server, (why) =>
    log.warn({ to: value, why }, 'failed to send audit heads'),
  );
  const audited = (report: AuditReport): void => {
    say(report);
    if (report.head) send(buildSyslogMessage(report.head, home));
  };
  return { file: null, syslog: { to: value, failure }, audited };
};

const buildSyslogMessage = ({ number, mac }: { number: number; mac: string }, home: string) => ({
  facility: FACILITY,
  severity: SEVERITY,
  at: iso(systemClock.now()),
  id: 'audit-head',
  data: { id: DATA_ID, values: { number: `${number}`, mac, home } },
  text: `audit head ${number} ${mac}`,
});

const faultOfFile = (file: string, home: string): string | null => {
  try {
    const folder = dirname(file);
    if (!existsSync(folder))
      return `must be a file in an existing folder. ${folder} does not exist`;
    if (isLinkToNothing(file)) return 'must be a file, not a broken symbolic link';
    if (isWithin(realpathSync(home), realpathSync(existsSync(file) ? file : folder))) {
      return 'must be a file outside the home folder, so that both cannot be modified together';
    }
    if (!existsSync(file)) {
      accessSync(folder, constants.W_OK | constants.X_OK);
      return null;
    }
    if (!statSync(file).isFile()) return 'must be a regular file';
    accessSync(file, constants.R_OK | constants.W_OK);
    if (statSync(file).size === 0 || readTail(file).length > 0) return null;
    return 'must be a new file or a file of audit heads. The existing file has other content';
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return `must be a readable and writable file: ${error.message}`;
  }
};

const isWithin = (home: string, place: string): boolean =>
  !/^\.\.(\/|$)/.test(relative(home, place));

/** A write would create the target of the link. */
const isLinkToNothing = (file: string): boolean =>
  !existsSync(file) && lstatSync(file, { throwIfNoEntry: false }) !== undefined;
