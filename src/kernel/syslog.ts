import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import { systemLookup } from './lookup.js';

export interface SyslogServer {
  host: string;
  port: number;
}

export interface SyslogMessage {
  /** Facility 0 to 23, severity 0 to 7 (RFC 5424, 6.2.1). */
  facility: number;
  severity: number;
  at: string;
  id: string;
  data: { id: string; values: Record<string, string> };
  text: string;
}

const ADDRESS = /^syslog:\/\/(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/i;
const PORT = 514;
const APP = 'adjutant';

/** `syslog://host[:514]`. Null if the text is not such a URL. */
export const parseSyslog = (text: string): SyslogServer | null => {
  const [, host, digits = `${PORT}`] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65535) return null;
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port };
};

export const formatSyslog = (
  message: SyslogMessage,
  from: { host: string; pid: number },
): string => {
  const { facility, severity, at, id, data, text } = message;
  const values = Object.entries(data.values).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  const header = `<${facility * 8 + severity}>1 ${at} ${named(from.host, 255)} ${APP} ${from.pid}`;
  return `${header} ${named(id, 32)} [${data.id}${values.join('')}] ${text}`;
};

/** Escapes the three characters of RFC 5424, 6.3.3. */
const escaped = (value: string): string => value.replaceAll(/["\\\]]/g, '\\$&');

const named = (text: string, most: number): string =>
  text.replaceAll(/[^!-~]/g, '').slice(0, most) || '-';

/** UDP (RFC 5426). `report` is called once per period of errors. */
export const openSyslog = (server: SyslogServer, report: (failure: string) => void) => {
  const from = { host: hostname(), pid: process.pid };
  let next: string | null = null;
  let isBusy = false;
  let failure: string | null = null;
  const drain = async (): Promise<void> => {
    isBusy = true;
    while (next !== null) {
      const text = next;
      next = null;
      const wasWell = failure === null;
      failure = await sent(server, text);
      if (failure !== null && wasWell) report(failure);
    }
    isBusy = false;
  };
  return {
    /** Does not wait or throw. While sending, only the newest other message is kept. */
    send: (message: SyslogMessage): void => {
      next = formatSyslog(message, from);
      if (!isBusy) void drain();
    },
    failure: (): string | null => failure,
  };
};

/** A new socket per message, because messages are rare and the server address may change. */
const sent = async ({ host, port }: SyslogServer, text: string): Promise<string | null> => {
  try {
    const [address = host] = await systemLookup(host);
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    return await new Promise<string | null>((resolve, reject) => {
      socket.on('error', reject);
      socket.send(text, port, address, (error) => resolve(error?.message ?? null));
    }).finally(() => socket.close());
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
