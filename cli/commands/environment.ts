import { settings, toVariableName } from '../../src/config.js';
import { twoColumns } from '../help.js';

/** Generated from the table of settings. */
export const environment = (): string[] => [
  'The CLI reads:',
  ...indented([
    [
      'ADJUTANT_URL',
      'Address of the daemon. Defaults to ADJUTANT_HOST and ADJUTANT_PORT on this machine',
    ],
    [
      'ADJUTANT_HOST, ADJUTANT_PORT',
      'Listen address and port of the daemon on this machine. Default to 127.0.0.1 and ' + '3005',
    ],
    ['ADJUTANT_HOME', 'Home of the daemon on this machine. Defaults to ~/.adjutant'],
    [
      'ADJUTANT_TOKEN',
      'Token used instead of the stored login; sent only to the daemon at ADJUTANT_URL',
    ],
    ['ADJUTANT_BELL', '1: the desk rings when a call starts to wait for your approval'],
    ['VISUAL, EDITOR', 'Editor that update and ^X open'],
    ['NO_COLOR', 'Disables colours'],
    [
      'HTTPS_PROXY, HTTP_PROXY',
      'Not used, neither by the CLI nor by the daemon: see docs/settings.md',
    ],
    [
      'NODE_EXTRA_CA_CERTS',
      'File of certificates of your own authorities. The CLI and the daemon trust them',
    ],
    ['ADJUTANT_ACCESSIBLE', '1: screen reader mode; printed text is never overwritten'],
  ]),
  '',
  'The daemon reads (defaults in brackets; a secret also from the file named by …_FILE):',
  ...indented(
    Object.entries(settings).map(([key, setting]) => [toVariableName(key), says(setting)]),
  ),
];

const indented = (rows: [string, string][]): string[] => twoColumns(rows).map((row) => `  ${row}`);

const says = ({ doc, initial }: { doc: string; initial: unknown }): string => {
  const isEmpty = initial === null || (Array.isArray(initial) && initial.length === 0);
  return isEmpty ? doc : `${doc} [${initial}]`;
};
