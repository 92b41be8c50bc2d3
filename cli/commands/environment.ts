import { settings, variableOf } from '../../src/config.js';
import { twoColumns } from '../help.js';

/** Help on the environment, printed from the one table of settings. */
export const environment = (): string[] => [
  'The CLI reads:',
  ...indented([
    [
      'ADJUTANT_URL',
      'Address of the daemon; unless set, that of ADJUTANT_HOST and ADJUTANT_PORT on this machine',
    ],
    ['ADJUTANT_HOST, ADJUTANT_PORT', 'Where the daemon of this machine listens; 127.0.0.1, 3005'],
    ['ADJUTANT_HOME', 'Home of the daemon of this machine; ~/.adjutant'],
    [
      'ADJUTANT_TOKEN',
      'A token in place of the kept login; sent to the daemon at ADJUTANT_URL alone',
    ],
    ['ADJUTANT_BELL', '1: the desk rings when a call of an agent begins to wait for your approval'],
    ['VISUAL, EDITOR', 'The editor that update and ^X open'],
    ['NO_COLOR', 'No colours'],
    ['HTTPS_PROXY, HTTP_PROXY', 'Not used, neither here nor by the daemon: see docs/settings.md'],
    ['ADJUTANT_ACCESSIBLE', '1: for a screen reader; nothing that was printed is overwritten'],
  ]),
  '',
  'The daemon reads (defaults in brackets; a secret also from the file named by …_FILE):',
  ...indented(Object.entries(settings).map(([key, setting]) => [variableOf(key), says(setting)])),
];

const indented = (rows: [string, string][]): string[] => twoColumns(rows).map((row) => `  ${row}`);

const says = ({ doc, initial }: { doc: string; initial: unknown }): string => {
  const isEmpty = initial === null || (Array.isArray(initial) && initial.length === 0);
  return isEmpty ? doc : `${doc} [${initial}]`;
};
