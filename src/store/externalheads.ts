import { accessSync, constants, existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { iso, systemClock } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import { openSyslog, parseSyslog } from '../kernel/syslog.js';
import { readTail } from './audit/headlines.js';
import { sayAudit } from './auditlog.js';
import { type AuditReport, OpenRefused } from './engine/protocol.js';

/** Where the heads go beside the home. */
export interface OutsideHeads {
  /** Written by the database thread; null: none. */
  file: string | null;
  /** `syslog://…`, with why the last head could not be sent. */
  syslog: { to: string; failure(): string | null } | null;
  audited(report: AuditReport): void;
}

interface HeadsSetting {
  /** Its variable. */
  name: string;
  /** null: not set. */
  value: string | null;
  home: string;
}

/** Log audit, and informational (RFC 5424, 6.2.1). */
const FACILITY = 13;
const SEVERITY = 6;
/** RFC 5612: for whom no number of an enterprise was registered. */
const DATA_ID = 'auditHead@32473';

/** OpenRefused: the setting names a file that cannot be, with its variable and what to do. */
export const openOutside = ({ name, value, home }: HeadsSetting, log: Log): OutsideHeads => {
  const say = sayAudit(log);
  if (value === null) return { file: null, syslog: null, audited: say };
  const server = parseSyslog(value);
  if (!server) {
    const fault = faultOfFile(resolve(value), home);
    if (fault !== null) throw new OpenRefused(`${name} ${fault} (got "${value}")`);
    return { file: resolve(value), syslog: null, audited: say };
  }
  const { send, failure } = openSyslog(server, (why) =>
    log.warn({ to: value, why }, 'audit heads cannot be sent'),
  );
  const audited = (report: AuditReport): void => {
    say(report);
    if (report.head) send(messageOf(report.head, home));
  };
  return { file: null, syslog: { to: value, failure }, audited };
};

const messageOf = ({ number, mac }: { number: number; mac: string }, home: string) => ({
  facility: FACILITY,
  severity: SEVERITY,
  at: iso(systemClock.now()),
  id: 'audit-head',
  data: { id: DATA_ID, values: { number: `${number}`, mac, home } },
  text: `audit head ${number} ${mac}`,
});

/** What keeps a path from being a file of heads; null: nothing. */
const faultOfFile = (file: string, home: string): string | null => {
  try {
    const folder = dirname(file);
    if (!existsSync(folder)) return `must name a file in a folder that is there, not in ${folder}`;
    if (isLinkToNothing(file)) return 'must name a file, and that is a link to nothing';
    if (isWithin(realpathSync(home), realpathSync(existsSync(file) ? file : folder))) {
      return 'must name a file outside the home: whoever cuts the one there could cut the other';
    }
    if (!existsSync(file)) {
      accessSync(folder, constants.W_OK | constants.X_OK);
      return null;
    }
    if (!statSync(file).isFile()) return 'must name a file, and that is none';
    accessSync(file, constants.R_OK | constants.W_OK);
    if (statSync(file).size === 0 || readTail(file).length > 0) return null;
    return 'must name a file of heads or a new one: that file holds something else';
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return `must name a file that can be read and written: ${error.message}`;
  }
};

const isWithin = (home: string, place: string): boolean =>
  !/^\.\.(\/|$)/.test(relative(home, place));

/** What is written there is made wherever it points. */
const isLinkToNothing = (file: string): boolean =>
  !existsSync(file) && lstatSync(file, { throwIfNoEntry: false }) !== undefined;
