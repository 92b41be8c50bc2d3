import { type Flag, textFlag } from '../command.js';
import { usageFault } from '../exit.js';

const port: Flag<number> = {
  value: '<port>',
  about: 'TCP port to listen on, 3005 unless set; 0 takes any free one',
  read: (given) => {
    const number = Number(given);
    if (/^\d+$/.test(given) && number <= 65_535) return number;
    throw usageFault(`--port is a whole number from 0 to 65535 (got "${given}")`);
  },
};

/** Flags for the address at which a daemon is to listen. */
export const listenFlags = {
  host: textFlag('<address>', 'Address to listen on, 127.0.0.1 unless set'),
  port,
};

export interface ListenAddress {
  host?: string;
  port?: number;
}

/** The same as words for `serve`. */
export const listenWords = ({ host, port: number }: ListenAddress): string[] => [
  ...(host === undefined ? [] : ['--host', host]),
  ...(number === undefined ? [] : ['--port', String(number)]),
];

const DEFAULT_PORT = '3005';

/** The command that starts a daemon which answers at this address of this machine. */
export const upAt = (url: string): string => {
  const { port: number } = new URL(url);
  return number === DEFAULT_PORT ? 'adjutant up' : `adjutant up --port ${number || '80'}`;
};
