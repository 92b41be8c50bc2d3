import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import { systemLookup } from './lookup.js';

/** A syslog server, as `syslog://host[:514]` names it. */
export interface SyslogServer {
  host: string;
  port: number;
}

export interface SyslogMessage {
  /** The facility, 0 to 23, and the severity, 0 to 7 (RFC 5424, 6.2.1). */
  facility: number;
  severity: number;
  /** The time in ISO 8601. */
  at: string;
  /** The kind of the message, by which its reader may filter. */
  id: string;
  /** An element of structured data: its SD-ID and its parameters. */
  data: { id: string; values: Record<string, string> };
  /** The text in ASCII. */
  text: string;
}

const ADDRESS = /^syslog:\/\/(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/i;
const PORT = 514;
const APP = 'adjutant';

/** Returns null if the text is not the address of a syslog server. */
export const parseSyslog = (text: string): SyslogServer | null => {
  const [, host, digits = `${PORT}`] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65535) return null;
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port };
};

/** Formats one message as in RFC 5424, 6. */
export const formatSyslog = (
  message: SyslogMessage,
  from: { host: string; pid: number },
): string => {
  const { facility, severity, at, id, data, text } = message;
  const values = Object.entries(data.values).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  const header = `<${facility * 8 + severity}>1 ${at} ${named(from.host, 255)} ${APP} ${from.pid}`;
  return `${header} ${named(id, 32)} [${data.id}${values.join('')}] ${text}`;
};

/** Escapes the three characters of RFC 5424, 6.3.3, and no others. */
const escaped = (value: string): string => value.replaceAll(/["\\\]]/g, '\\$&');

/** Returns a header field: printable ASCII without a space, or `-`. */
const named = (text: string, most: number): string =>
  text.replaceAll(/[^!-~]/g, '').slice(0, most) || '-';

/**
 * Opens a sender over UDP (RFC 5426). `told` is called once for each period in which nothing can be
 * sent.
 */
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
    /**
     * Sends a message without waiting and without throwing. While one is being sent, only the
     * newest of the others is kept.
     */
    send: (message: SyslogMessage): void => {
      next = formatSyslog(message, from);
      if (!isBusy) void drain();
    },
    /**
     * Returns why the last message could not be sent, or null if it was sent. UDP does not report
     * its arrival.
     */
    failure: (): string | null => failure,
  };
};

/** Sends one message over a new socket: heads are rare, and a server's address may change. */
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
