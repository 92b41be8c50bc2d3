import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { addressSet } from './kernel/clientaddress.js';
import { createEgress } from './kernel/egress.js';
import { faultOfHeaderValue } from './kernel/headervalue.js';
import type { NotifySettings } from './kernel/sdnotify.js';
import { parseSyslog } from './kernel/syslog.js';

interface Setting<T> {
  initial: T;
  doc: string;
  /** A secret may also come from the file named by `<NAME>_FILE`, and is never printed. */
  isSecret?: true;
  read(given: string): T;
}

class BadValue extends Error {}

const setting = <T>(initial: T, doc: string, read: (given: string) => T): Setting<T> => ({
  initial,
  doc,
  read,
});
/** A text that may be left out; `check` throws BadValue for one that cannot be meant. */
const maybe = (doc: string, check: (given: string) => void = () => undefined) =>
  setting<string | null>(null, doc, (given) => {
    check(given);
    return given;
  });
const text = (initial: string, doc: string) => setting(initial, doc, (given) => given);
const secret = (doc: string): Setting<string | null> => ({ ...maybe(doc), isSecret: true });
/** A secret that is sent in a header. */
const key = (doc: string): Setting<string | null> => ({
  ...maybe(doc, (given) => {
    const fault = faultOfHeaderValue(given);
    if (fault !== null) throw new BadValue(fault.replace(/^must be /, ''));
  }),
  isSecret: true,
});
const url = (doc: string) =>
  maybe(doc, (given) => {
    if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
      throw new BadValue('a URL that begins with http:// or https://');
    }
  });
const folder = (doc: string) =>
  maybe(doc, (given) => {
    if (!isAbsolute(given)) throw new BadValue('an absolute folder');
  });
/** Shape alone: the rest that a file must be is known once there is a home. */
const headsTarget = (doc: string) =>
  maybe(doc, (given) => {
    if (!isAbsolute(given) && parseSyslog(given) === null) {
      throw new BadValue('an absolute path of a file, or syslog://host[:514]');
    }
  });
const flag = (initial: boolean, doc: string) =>
  setting(initial, doc, (given) => {
    if (given !== 'true' && given !== 'false') throw new BadValue('true or false');
    return given === 'true';
  });
const number = (initial: number, min: number, max: number, doc: string) =>
  setting(initial, doc, (given) => {
    const value = Number(given);
    if (given.trim() === '' || !(value >= min && value <= max)) {
      throw new BadValue(`a number from ${min} to ${max}`);
    }
    return value;
  });
const whole = (initial: number, min: number, max: number, doc: string) =>
  setting(initial, doc, (given) => {
    const value = number(initial, min, max, doc).read(given);
    if (!Number.isInteger(value)) throw new BadValue(`a whole number from ${min} to ${max}`);
    return value;
  });
/** Words between spaces or commas; `check` throws on a list that cannot be meant. */
const words = (expected: string, check: (words: string[]) => unknown) => (doc: string) =>
  setting<string[]>([], doc, (given) => {
    const list = given.split(/[\s,]+/).filter((word) => word !== '');
    try {
      check(list);
    } catch {
      throw new BadValue(expected);
    }
    return list;
  });
/** A check of each word by itself. */
const each = (isRight: (word: string) => boolean) => (list: string[]) => {
  if (!list.every(isRight)) throw new BadValue('other words');
};
const addresses = words('addresses or CIDRs', addressSet);
const destinations = words('hosts, host:port pairs or CIDRs', createEgress);
const origins = words(
  'origins such as https://desk.example.org',
  each((word) => new URL(word).origin === word),
);
const folders = words(
  'absolute folders',
  each((word) => isAbsolute(word)),
);
/** `daily`, `6h` or `6`; 0 is never. */
const hours = (initial: number, doc: string) =>
  setting(initial, doc, (given) => {
    if (given === 'daily') return 24;
    const value = Number(/^(\d{1,4})h?$/.exec(given)?.[1]);
    if (!(value <= 8760)) throw new BadValue('daily, or hours as in 6h');
    return value;
  });
const oneOf = <const V extends string>(values: [V, ...V[]], doc: string) =>
  setting<V>(values[0], doc, (given) => {
    const found = values.find((value) => value === given);
    if (found === undefined) throw new BadValue(`one of ${values.join(', ')}`);
    return found;
  });
const maybeOneOf = <const V extends string>(values: [V, ...V[]], doc: string) =>
  setting<V | null>(null, doc, oneOf(values, doc).read);

/** Every setting of the daemon. The variable of `tokenHours` is `ADJUTANT_TOKEN_HOURS`. */
export const settings = {
  home: text('~/.adjutant', 'Folder that holds the database, keys, logs and agents’ work'),
  host: text('127.0.0.1', 'Address to listen on; beyond loopback put TLS in front'),
  port: whole(3005, 0, 65535, 'TCP port to listen on; 0 = any free one'),
  publicUrl: url('The address at which others reach this daemon, e.g. https://hooks.example.org'),
  trustedProxies: addresses('Addresses or CIDRs whose X-Forwarded-For is believed'),
  origins: origins('Origins of browser apps that may call the API and open /ws'),
  page: oneOf(['on', 'local', 'off'], 'The page at / for browsers; local = on this machine alone'),
  registration: oneOf(
    ['local', 'open', 'invite', 'closed'],
    'Who may register: local = only from this machine itself',
  ),
  adminUsername: maybe('Name of the first account, made at the start where there is none'),
  adminPassword: secret('Password of the first account'),
  masterKey: secret('32 bytes, base64 or hex, that seal all secrets; else keys/master.key is made'),
  tokenHours: number(
    12,
    0.01,
    720,
    'Life of a login that names no device, in hours; the CLI names one',
  ),
  ratePerUser: number(6000, 0, 1e9, 'Requests a minute per user, 0 = off'),
  ratePerAddress: number(600, 0, 1e9, 'Requests a minute per address without a token, 0 = off'),
  egressAllow: destinations(
    'host, host:port or CIDR that outgoing requests may reach though it is private',
  ),
  allowUnconfined: flag(false, 'Let tools run programs where no confinement works here'),
  cliPath: folders('Folders of claude, codex, gemini, opencode and tunnels; else those of PATH'),
  voicePath: folders('Folders of ffmpeg and pocketsphinx_continuous; else those of PATH'),
  searchProvider: maybeOneOf(
    ['searxng', 'brave', 'tavily', 'kagi', 'exa'],
    'Who searches the web: searxng, brave, tavily, kagi or exa',
  ),
  searchUrl: url(
    'Search address of a SearXNG instance, e.g. http://127.0.0.1:8080/search; of others only where it is another than their own',
  ),
  searchKey: key('API key of the search provider; else the credential search-key of an admin'),
  hookConcurrency: whole(2, 1, 1000, 'Runs of one hook at once, where the hook does not say'),
  workers: whole(0, 0, 64, 'Processes of heavy work at once; 0 = one less than the usable cores'),
  builtinEmbedder: flag(
    true,
    'Make vectors of English texts here where no model is routed to embeddings',
  ),
  knowledgeRoots: folders(
    'Folders on this machine that users with the permission index may have indexed; none unless set',
  ),
  documentsGib: number(20, 0, 1e6, 'GiB of documents that a user may have, 0 = no limit'),
  emailPerHour: whole(60, 0, 1e6, 'E-mails that a user may send in an hour, 0 = no limit'),
  jobConcurrency: whole(20, 1, 1000, 'Runs at once, of everything'),
  drainSeconds: number(8, 0, 600, 'How long a clean stop waits for runs to finish'),
  retentionDays: number(30, 0, 36500, 'Days to keep deliveries, executions, events; 0 = for ever'),
  backupFolder: folder('Folder that backups go to, better on another disk; else <home>/backups'),
  backupEvery: hours(
    0,
    'How often a backup is made by itself: daily, or hours as in 6h; 0 = never',
  ),
  backupKeep: whole(7, 1, 10000, 'How many of those are kept'),
  backupPassphrase: secret('Seals the keys in a backup where none is given with the request'),
  auditHeads: headsTarget(
    'Where the heads of the audit log go beside the home: an absolute file outside it, or syslog://host[:514]',
  ),
  dailyCostUsd: number(10, 0, 1e6, 'What the agents of one user may cost a day, in USD'),
  modelUrl: url('Base URL of an OpenAI-compatible endpoint, e.g. http://127.0.0.1:11434/v1'),
  modelName: maybe('Model to ask for there'),
  modelKey: key('API key for it, if it wants one'),
  modelContext: number(128000, 1000, 1e8, 'Context window of that model, in tokens'),
  modelDigest: flag(
    false,
    'Let the built-in digest answer where that model does not; otherwise the agent fails',
  ),
  modelInputPrice: number(0, 0, 1e6, 'Its price in USD for a million input tokens; 0 = not known'),
  modelOutputPrice: number(
    0,
    0,
    1e6,
    'Its price in USD for a million output tokens; 0 = not known',
  ),
  modelFirstTokenSeconds: number(120, 0.1, 3600, 'How long any model may take to its first token'),
  modelSilenceSeconds: number(60, 0.1, 3600, 'How long any model may be silent between tokens'),
  modelTotalSeconds: number(1800, 0.1, 86400, 'How long one answer of any model may take'),
  llamaLoadSeconds: number(120, 1, 3600, 'How long a model on this machine may take to load'),
  llamaIdleMinutes: number(10, 0.01, 1440, 'After how long without a request it is unloaded'),
  llamaGpu: flag(
    false,
    'Run models on this machine on its graphics card; their process is not confined then',
  ),
  catalogue: maybe(
    'Catalogue of models to use in place of the one that ships: an https address or an absolute file',
    (given) => {
      if (!isAbsolute(given) && !/^https:\/\/[^/@?#]+([/?#]|$)/.test(given)) {
        throw new BadValue('an https address (without a password) or an absolute file');
      }
    },
  ),
  capabilitySource: folder('Folder of adjutant capabilities export, to install from offline'),
  logLevel: oneOf(['info', 'debug', 'warn', 'error', 'silent'], 'Least level that is logged'),
};

export type Config = { [K in keyof typeof settings]: (typeof settings)[K]['initial'] };
type Environment = Record<string, string | undefined>;

/** A setting has a value that it cannot have; the message names it. */
export class BadSetting extends Error {
  override name = 'BadSetting';
}

export const variableOf = (key: string): string =>
  `ADJUTANT_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Returns the folder of the logins that the command line keeps for the user of this process. */
export const loginsFolder = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'adjutant');

/** Variables with which Node and npm find a proxy and the certificates of a company's network. */
const NETWORK = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|((HTTPS?|NO)_PROXY))$/i;

/** Returns the network settings of this process, for the programs that fetch packages. */
export const networkSettings = (given: Environment = process.env): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value !== undefined && NETWORK.test(name) ? [[name, value]] : [],
    ),
  );

/** Returns the folders in which an Ollama on this machine keeps its models, by its own rules. */
export const ollamaFolders = ({ OLLAMA_MODELS: given }: Environment = process.env): string[] =>
  given
    ? [given]
    : [join(homedir(), '.ollama/models'), '/usr/share/ollama/.ollama/models', '/var/lib/ollama'];

/** Flags win over the environment, the environment over what is built in. A bad value: BadSetting. */
export const readConfig = (
  flags: Partial<Config> = {},
  environment: Environment = process.env,
): Config => {
  refuseUnknown(environment);
  const chosenOf = (key: string, of: Setting<unknown>) => chosen(variableOf(key), of, environment);
  const values = Object.entries(settings).map(([key, of]) => [key, chosenOf(key, of)]);
  const config: Config = { ...Object.fromEntries(values), ...flags };
  refuseUnsearchable(config);
  const home = resolve(config.home.replace(/^~(?=$|\/)/, homedir()));
  const path = (environment.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const orPath = (given: string[]) => (given.length > 0 ? given : path);
  return { ...config, home, cliPath: orPath(config.cliPath), voicePath: orPath(config.voicePath) };
};

/** Every SearXNG instance has an address of its own. */
const refuseUnsearchable = ({ searchProvider, searchUrl }: Config): void => {
  if (searchProvider === 'searxng' && searchUrl === null) {
    throw new BadSetting('ADJUTANT_SEARCH_PROVIDER searxng needs ADJUTANT_SEARCH_URL');
  }
};

const chosen = (variable: string, setting: Setting<unknown>, environment: Environment) => {
  const given = setting.isSecret ? secretOf(variable, environment) : environment[variable];
  if (given === undefined || given === '') return setting.initial;
  try {
    return setting.read(given);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const got = setting.isSecret ? '' : ` (got "${given.slice(0, 40)}")`;
    throw new BadSetting(`${variable} must be ${error.message}${got}`);
  }
};

const secretOf = (variable: string, environment: Environment): string | undefined => {
  const file = environment[`${variable}_FILE`];
  if (!file) return environment[variable];
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new BadSetting(`${variable}_FILE names a file that cannot be read: ${file}`);
  }
};

/**
 * Takes the settings of the service manager out of the environment, so that no child process
 * notifies it in the daemon's name. The watchdog is for the process that WATCHDOG_PID names.
 */
export const takeNotifySettings = (environment: Environment = process.env): NotifySettings => {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID = String(process.pid) } = environment;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name];
  const limit = WATCHDOG_PID === String(process.pid) ? Number(WATCHDOG_USEC) / 1000 : 0;
  return { socket: NOTIFY_SOCKET || null, watchdogMs: limit > 0 ? limit : null };
};

/** Names of the settings that the environment holds; a secret's value is nowhere in them. */
export const givenSettings = (environment: Environment = process.env): string[] =>
  Object.keys(environment)
    .filter((name) => name.startsWith('ADJUTANT_') && environment[name] !== '')
    .sort();

/** Variables that the CLI and the desk read: they share a shell with the daemon. */
const OTHERS = ['ADJUTANT_URL', 'ADJUTANT_TOKEN', 'ADJUTANT_BELL', 'ADJUTANT_ACCESSIBLE'];

/** A misspelt setting would otherwise be silently without effect. */
const refuseUnknown = (environment: Environment): void => {
  const known = new Set(OTHERS);
  for (const [key, setting] of Object.entries<Setting<unknown>>(settings)) {
    known.add(variableOf(key));
    if (setting.isSecret) known.add(`${variableOf(key)}_FILE`);
  }
  const unknown = Object.keys(environment).find(
    (name) => name.startsWith('ADJUTANT_') && !known.has(name),
  );
  if (unknown)
    throw new BadSetting(`${unknown} is not a setting. All settings: adjutant help environment`);
};
