import { wrongSchemeReason } from '../../src/client/requireadjutant.js';
import { send } from '../../src/client/send.js';
import { systemClock } from '../../src/kernel/clock.js';
import { shellWord } from '../../src/kernel/shellword.js';
import { type Flag, textFlag } from '../command.js';
import { usageFault } from '../exit.js';

const TIMEOUT_MS = 2_000;
const EVERYWHERE = ['0.0.0.0', '::', '[::]'];

export type Readiness =
  | { is: 'ready' }
  /** `failing` names the parts that are not ready, including `draining`. */
  | { is: 'not_ready'; failing: string[] }
  | { is: 'otherProgram' }
  | { is: 'silent' };

/** `wrongScheme`: the server uses the other of http and https. */
export type ReadinessFinding = Readiness | { is: 'wrongScheme'; reason: string };

/** Never throws. */
export const checkReadiness = async (url: string): Promise<Readiness> => {
  const reply = await ask(`${url}/health/ready`);
  if (reply === null) return { is: 'silent' };
  if (typeof reply !== 'object' || reply === undefined) return { is: 'otherProgram' };
  const { status, failing }: { status?: unknown; failing?: unknown } = reply;
  if (status === 'ready') return { is: 'ready' };
  if (status !== 'not_ready' || !Array.isArray(failing)) return { is: 'otherProgram' };
  return { is: 'not_ready', failing: failing.map(String) };
};

/** Like `checkReadiness`, and explains a server that uses the other scheme. */
export const findReadiness = async (url: string): Promise<ReadinessFinding> => {
  const readiness = await checkReadiness(url);
  if (readiness.is !== 'silent' && readiness.is !== 'otherProgram') return readiness;
  const reason = await wrongSchemeReason(send, url, systemClock.deadline(TIMEOUT_MS));
  return reason === null ? readiness : { is: 'wrongScheme', reason };
};

/**
 * Parses the address that a starting daemon prints. A wildcard address becomes one to connect to.
 */
export const parseListeningUrl = (output: string): string | null => {
  const found = /^\s*listening (http:\/\/(\S+):(\d+))/m.exec(output);
  const [, , host = '', port = ''] = found ?? [];
  if (!found) return null;
  if (EVERYWHERE.includes(host)) return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
};

/** Returns the reply, null without one, or undefined if it is not JSON. */
const ask = async (url: string): Promise<object | null | undefined> => {
  try {
    const signal = systemClock.deadline(TIMEOUT_MS);
    const response = await send(url, { method: 'GET', headers: {}, signal });
    const text = await response.text();
    return text.startsWith('{') ? JSON.parse(text) : undefined;
  } catch (error) {
    return error instanceof SyntaxError ? undefined : null;
  }
};

const port: Flag<number> = {
  value: '<port>',
  about: 'TCP port to listen on. Defaults to 3005; 0 uses any free port',
  read: (input) => {
    const number = Number(input);
    if (/^\d+$/.test(input) && number <= 65_535) return number;
    throw usageFault(`--port must be a whole number from 0 to 65535 (got "${input}")`);
  },
};

export const listenFlags = {
  host: textFlag('<address>', 'Address to listen on. Defaults to 127.0.0.1'),
  port,
};

export interface ListenAddress {
  host?: string;
  port?: number;
}

export const listenArguments = ({ host, port: number }: ListenAddress): string[] => [
  ...(host === undefined ? [] : ['--host', host]),
  ...(number === undefined ? [] : ['--port', String(number)]),
];

const DEFAULT_PORT = '3005';

/** `home` is that of the flag, since a setting of the environment also applies to `adjutant up`. */
export const startCommandFor = (url: string, home: string | undefined): string => {
  const { port: number } = new URL(url);
  return [
    'adjutant up',
    ...(home === undefined ? [] : [`--home ${shellWord(home)}`]),
    ...(number === DEFAULT_PORT ? [] : [`--port ${number || '80'}`]),
  ].join(' ');
};
