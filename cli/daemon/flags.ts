import { type Flag, text } from '../command.js';
import { usage } from '../exit.js';

const port: Flag<number> = {
  value: '<port>',
  about: 'TCP port to listen on, 3005 unless set; 0 takes any free one',
  read: (given) => {
    const number = Number(given);
    if (/^\d+$/.test(given) && number <= 65_535) return number;
    throw usage(`--port is a whole number from 0 to 65535 (got "${given}")`);
  },
};

/** Where a daemon is to listen. */
export const listenFlags = {
  host: text('<address>', 'Address to listen on, 127.0.0.1 unless set'),
  port,
};

export interface Listening {
  host?: string;
  port?: number;
}

/** The same as words for `serve`. */
export const wordsOf = ({ host, port: number }: Listening): string[] => [
  ...(host === undefined ? [] : ['--host', host]),
  ...(number === undefined ? [] : ['--port', String(number)]),
];

const DEFAULT_PORT = '3005';

/** The command that starts a daemon which answers at this address of this machine. */
export const upAt = (url: string): string => {
  const { port: number } = new URL(url);
  return number === DEFAULT_PORT ? 'adjutant up' : `adjutant up --port ${number || '80'}`;
};
