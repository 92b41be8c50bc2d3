import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { commandOf } from './process.js';

const LISTENING = '0A';

/** The process that listens on a TCP port. */
export interface PortHolder {
  pid: number;
  /** Its command line, cut short. */
  command: string | null;
}

/** The process that holds the port, where /proc tells and we may look; else null. */
export const holderOf = (port: number): PortHolder | null => {
  const sockets = ['tcp', 'tcp6'].flatMap((table) => listeningOn(port, read(`/proc/net/${table}`)));
  if (sockets.length === 0) return null;
  const pid = list('/proc').find((name) => /^\d+$/.test(name) && hasOneOf(name, sockets));
  return pid === undefined ? null : { pid: Number(pid), command: commandOf(Number(pid)) };
};

/** ` (pid 2290, node server.js)`, or nothing where the holder is not known. */
export const sayHolder = (holder: PortHolder | null): string =>
  holder === null ? '' : ` by pid ${holder.pid}${holder.command ? ` (${holder.command})` : ''}`;

/** The links of the sockets that listen on a port, from one of the kernel's tables. */
const listeningOn = (port: number, table: string): string[] => {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    return state === LISTENING && local.endsWith(`:${hex}`) ? [`socket:[${inode}]`] : [];
  });
};

const hasOneOf = (pid: string, sockets: string[]): boolean =>
  list(`/proc/${pid}/fd`).some((fd) => sockets.includes(target(`/proc/${pid}/fd/${fd}`)));

/** Processes end while one looks, and others' are hidden: what cannot be read is not there. */
const unlessHidden = <T>(look: () => T, otherwise: T): T => {
  try {
    return look();
  } catch {
    return otherwise;
  }
};

const read = (path: string): string => unlessHidden(() => readFileSync(path, 'utf8'), '');
const list = (path: string): string[] => unlessHidden(() => readdirSync(path), []);
const target = (path: string): string => unlessHidden(() => readlinkSync(path), '');
