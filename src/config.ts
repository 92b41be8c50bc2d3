import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { addressSet } from './kernel/clientaddress.js';
import { normalizeUrl } from './kernel/contract/url.js';
import { createEgress, isUrl } from './kernel/egress.js';
import { faultOfHeaderValue } from './kernel/headervalue.js';
import type { NotifySettings } from './kernel/sdnotify.js';
import { parseSyslog } from './kernel/syslog.js';

interface Setting<T> {
  initial: T;
  doc: string;
  /** A secret may also come from the file named by `<NAME>_FILE`, and is never printed. */
  isSecret?: true;
  read(raw: string): T;
}

class BadValue extends Error {}

const setting = <T>(initial: T, doc: string, read: (raw: string) => T): Setting<T> => ({
  initial,
  doc,
  read,
});
/** Optional text; `check` throws BadValue for an invalid one. */
const maybe = (doc: string, check: (raw: string) => void = () => undefined) =>
  setting<string | null>(null, doc, (raw) => {
    check(raw);
    return raw;
  });
const text = (initial: string, doc: string) => setting(initial, doc, (raw) => raw);
const secret = (doc: string): Setting<string | null> => ({ ...maybe(doc), isSecret: true });
const key = (doc: string): Setting<string | null> => ({
  ...maybe(doc, (raw) => {
    const fault = faultOfHeaderValue(raw);
    if (fault !== null) throw new BadValue(fault.replace(/^must be /, ''));
  }),
  isSecret: true,
});
const url = (doc: string) =>
  setting<string | null>(null, doc, (raw) => {
    const normal = normalizeUrl(raw);
    if (!isUrl(normal)) throw new BadValue('a URL that begins with http:// or https://');
    return normal;
  });
const folder = (doc: string) =>
  maybe(doc, (raw) => {
    if (!isAbsolute(raw)) throw new BadValue('an absolute path of a folder');
  });
/** Checks only the form. Whether the file is allowed depends on the home, which is not known yet. */
const headsTarget = (doc: string) =>
  maybe(doc, (raw) => {
    if (!isAbsolute(raw) && parseSyslog(raw) === null) {
      throw new BadValue(
        'an absolute path of a file, or syslog://host:port (the port defaults to 514)',
      );
    }
  });
const boolean = (initial: boolean, doc: string) =>
  setting(initial, doc, (raw) => {
    if (raw !== 'true' && raw !== 'false') throw new BadValue('true or false');
    return raw === 'true';
  });
const number = (initial: number, min: number, max: number, doc: string) =>
  setting(initial, doc, (raw) => {
    const value = Number(raw);
    if (raw.trim() === '' || !(value >= min && value <= max)) {
      throw new BadValue(`a number from ${min} to ${max}`);
    }
    return value;
  });
const integer = (initial: number, min: number, max: number, doc: string) =>
  setting(initial, doc, (raw) => {
    const value = number(initial, min, max, doc).read(raw);
    if (!Number.isInteger(value)) throw new BadValue(`a whole number from ${min} to ${max}`);
    return value;
  });
/** A list separated by spaces or commas; `check` throws for an invalid one. */
const words = (expected: string, check: (words: string[]) => unknown) => (doc: string) =>
  setting<string[]>([], doc, (raw) => {
    const list = raw.split(/[\s,]+/).filter((word) => word !== '');
    try {
      check(list);
    } catch {
      throw new BadValue(expected);
    }
    return list;
  });
const each = (isRight: (word: string) => boolean) => (list: string[]) => {
  if (!list.every(isRight)) throw new Error('invalid word');
};
const addresses = words('addresses or CIDRs', addressSet);
const destinations = words('hosts, host:port pairs or CIDRs', createEgress);
const origins = words(
  'origins such as https://desk.example.org',
  each((word) => new URL(word).origin === word),
);
const folders = words(
  'absolute paths of folders',
  each((word) => isAbsolute(word)),
);
/** `daily`, `6h` or `6`; 0 for never. */
const hours = (initial: number, doc: string) =>
  setting(initial, doc, (raw) => {
    if (raw === 'daily') return 24;
    const value = Number(/^(\d{1,4})h?$/.exec(raw)?.[1]);
    if (!(value <= 8760))
      throw new BadValue('daily, or hours from 0 (disabled) to 8760, such as 6h');
    return value;
  });
const oneOf = <const V extends string>(values: [V, ...V[]], doc: string) =>
  setting<V>(values[0], doc, (raw) => {
    const found = values.find((value) => value === raw);
    if (found === undefined) throw new BadValue(`one of ${values.join(', ')}`);
    return found;
  });
const maybeOneOf = <const V extends string>(values: [V, ...V[]], doc: string) =>
  setting<V | null>(null, doc, oneOf(values, doc).read);

/** The environment variable of `tokenHours` is `ADJUTANT_TOKEN_HOURS`. */
export const settings = {
  home: text('~/.adjutant', 'Data folder: database, keys, logs and work of agents'),
  host: text('127.0.0.1', 'Address to listen on. Beyond loopback, put TLS in front'),
  port: integer(3005, 0, 65535, 'TCP port to listen on. 0 = any free port'),
  publicUrl: url('Public address of the daemon, such as https://hooks.example.org'),
  trustedProxies: addresses('Addresses or CIDRs of proxies whose X-Forwarded-For is trusted'),
  origins: origins('Origins of browser apps that may call the API and open /ws'),
  page: oneOf(['on', 'local', 'off'], 'Web page at /: on, local (only for this machine) or off'),
  registration: oneOf(
    ['local', 'open', 'invite', 'closed'],
    'Who may register: local (only from this machine), open, invite or closed',
  ),
  adminUsername: maybe('Username of the first account, created at the start if there is none'),
  adminPassword: secret('Password of the first account'),
  masterKey: secret(
    'Master key that seals all secrets: 32 bytes, base64 or hex. Defaults to the file keys/master.key',
  ),
  tokenHours: number(
    12,
    0.01,
    720,
    'Lifetime of a login without a device name, in hours. The CLI sends a device name',
  ),
  ratePerUser: number(6000, 0, 1e9, 'Maximum requests per minute and user. 0 = no limit'),
  ratePerAddress: number(
    600,
    0,
    1e9,
    'Maximum requests per minute and address without a token. 0 = no limit',
  ),
  egressAllow: destinations(
    'Private hosts, host:port pairs or CIDRs that outgoing requests may reach',
  ),
  allowUnconfined: boolean(
    false,
    'Let tools run programs even if no confinement works on this machine',
  ),
  cliPath: folders(
    'Folders of claude, codex, gemini, opencode and tunnel programs. Defaults to PATH',
  ),
  voicePath: folders('Folders of ffmpeg and pocketsphinx_continuous. Defaults to PATH'),
  searchProvider: maybeOneOf(
    ['searxng', 'brave', 'tavily', 'kagi', 'exa'],
    'Web search provider: searxng, brave, tavily, kagi or exa',
  ),
  searchUrl: url(
    'Search URL of a SearXNG instance, such as http://127.0.0.1:8080/search. For other providers, overrides the default URL',
  ),
  searchKey: key(
    'API key of the search provider. Defaults to the credential search-key of an admin',
  ),
  hookConcurrency: integer(
    2,
    1,
    1000,
    'Maximum concurrent executions of a hook that sets no limit itself',
  ),
  workers: integer(
    0,
    0,
    64,
    'Maximum worker processes for heavy work. 0 = one less than the usable cores',
  ),
  builtinEmbedder: boolean(
    true,
    'Compute vectors of English texts with the built-in embedder if no model is routed to embeddings',
  ),
  knowledgeRoots: folders(
    'Root folders that users with the permission index may index as knowledge',
  ),
  documentsGib: number(20, 0, 1e6, 'Maximum size of the documents of a user, in GiB. 0 = no limit'),
  emailPerHour: integer(60, 0, 1e6, 'Maximum e-mails that a user may send per hour. 0 = no limit'),
  jobConcurrency: integer(20, 1, 1000, 'Maximum concurrent jobs in total'),
  drainSeconds: number(8, 0, 600, 'Maximum time to wait for running jobs at shutdown, in seconds'),
  retentionDays: number(
    30,
    0,
    36500,
    'Retention of deliveries, executions and events, in days. 0 = unlimited',
  ),
  backupFolder: folder(
    'Folder for backups, preferably on another disk. Defaults to <home>/backups',
  ),
  backupEvery: hours(0, 'Interval of scheduled backups: daily, or hours such as 6h. 0 = disabled'),
  backupKeep: integer(7, 1, 10000, 'Number of scheduled backups to keep'),
  backupPassphrase: secret(
    'Passphrase that seals the keys in backups if the request contains none',
  ),
  auditHeads: headsTarget(
    'Additional destination of the audit log heads: absolute path of a file outside the home, or syslog://host[:514]',
  ),
  dailyCostUsd: number(
    10,
    0,
    1e6,
    'Maximum cost per day (UTC) of all agents of a user together, in USD',
  ),
  modelUrl: url('Base URL of an OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1'),
  modelName: maybe('Name of the model at ADJUTANT_MODEL_URL'),
  modelKey: key('API key for ADJUTANT_MODEL_URL, if required'),
  modelContext: number(128000, 1000, 1e8, 'Context window of ADJUTANT_MODEL_NAME, in tokens'),
  modelDigest: boolean(
    false,
    'Let the built-in digest answer if ADJUTANT_MODEL_NAME fails. Otherwise the agent fails',
  ),
  modelInputPrice: number(
    0,
    0,
    1e6,
    'Price of ADJUTANT_MODEL_NAME in USD per million input tokens. 0 = unknown',
  ),
  modelOutputPrice: number(
    0,
    0,
    1e6,
    'Price of ADJUTANT_MODEL_NAME in USD per million output tokens. 0 = unknown',
  ),
  modelFirstTokenSeconds: number(
    120,
    0.1,
    3600,
    'Maximum time to the first token of any model, in seconds',
  ),
  modelSilenceSeconds: number(
    60,
    0.1,
    3600,
    'Maximum time between two tokens of any model, in seconds',
  ),
  modelTotalSeconds: number(
    1800,
    0.1,
    86400,
    'Maximum duration of a reply of any model, in seconds',
  ),
  llamaLoadSeconds: number(
    120,
    1,
    3600,
    'Maximum time to load a model on this machine, in seconds',
  ),
  llamaIdleMinutes: number(
    10,
    0.01,
    1440,
    'Time without requests after which a model on this machine is unloaded, in minutes',
  ),
  llamaGpu: boolean(
    false,
    'Run models of this machine on the GPU. Their process is not confined then',
  ),
  catalogue: maybe(
    'Model catalogue to use instead of the built-in one: https URL or absolute path',
    (raw) => {
      if (!isAbsolute(raw) && !/^https:\/\/[^/@?#]+([/?#]|$)/.test(raw)) {
        throw new BadValue('an https URL without a password, or an absolute path of a file');
      }
    },
  ),
  capabilitySource: folder('Folder of adjutant capabilities export, for offline installation'),
  logLevel: oneOf(
    ['info', 'debug', 'warn', 'error', 'silent'],
    'Minimum log level: debug, info, warn, error or silent',
  ),
};

export type Config = { [K in keyof typeof settings]: (typeof settings)[K]['initial'] };
type Environment = Record<string, string | undefined>;

/** The message names the setting. */
export class BadSetting extends Error {
  override name = 'BadSetting';
}

export const toVariableName = (key: string): string =>
  `ADJUTANT_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Where the command line stores the logins of the current user. */
export const loginsFolder = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'adjutant');

/** Variables for proxies and certificates of Node and npm. */
const NETWORK = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|((HTTPS?|ALL|NO)_PROXY))$/i;

/** For programs that download packages. */
export const networkSettings = (environment: Environment = process.env): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && NETWORK.test(name) ? [[name, value]] : [],
    ),
  );

/** The model folders of an Ollama on this machine, by its own rules. */
export const ollamaFolders = ({ OLLAMA_MODELS: folder }: Environment = process.env): string[] =>
  folder
    ? [folder]
    : [join(homedir(), '.ollama/models'), '/usr/share/ollama/.ollama/models', '/var/lib/ollama'];

/** Flags override the environment, which overrides the defaults. Throws BadSetting. */
export const readConfig = (
  flags: Partial<Config> = {},
  environment: Environment = process.env,
): Config => {
  refuseUnknown(environment);
  const chosenOf = (key: string, of: Setting<unknown>) =>
    chosen(toVariableName(key), of, environment);
  const values = Object.entries(settings).map(([key, of]) => [key, chosenOf(key, of)]);
  const config: Config = { ...Object.fromEntries(values), ...flags };
  refuseUnsearchable(config);
  const home = resolve(config.home.replace(/^~(?=$|\/)/, homedir()));
  const path = (environment.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const orPath = (folders: string[]) => (folders.length > 0 ? folders : path);
  return { ...config, home, cliPath: orPath(config.cliPath), voicePath: orPath(config.voicePath) };
};

const refuseUnsearchable = ({ searchProvider, searchUrl }: Config): void => {
  if (searchProvider === 'searxng' && searchUrl === null) {
    throw new BadSetting(
      'ADJUTANT_SEARCH_PROVIDER=searxng requires ADJUTANT_SEARCH_URL. Set it to the address of the SearXNG server',
    );
  }
};

const chosen = (variable: string, setting: Setting<unknown>, environment: Environment) => {
  const raw = setting.isSecret ? readSecret(variable, environment) : environment[variable];
  if (raw === undefined || raw === '') return setting.initial;
  try {
    return setting.read(raw);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const got = setting.isSecret ? '' : ` (got "${raw.slice(0, 40)}")`;
    throw new BadSetting(`${variable} must be ${error.message}${got}`);
  }
};

const readSecret = (variable: string, environment: Environment): string | undefined => {
  const file = environment[`${variable}_FILE`];
  if (!file) return environment[variable];
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new BadSetting(`${variable}_FILE: cannot read the file ${file}`);
  }
};

/**
 * Removes the settings of the service manager from the environment, so that no child process notifies
 * it in the daemon's name. The watchdog is for the process in WATCHDOG_PID.
 */
export const takeNotifySettings = (environment: Environment = process.env): NotifySettings => {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID = String(process.pid) } = environment;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name];
  const limit = WATCHDOG_PID === String(process.pid) ? Number(WATCHDOG_USEC) / 1000 : 0;
  return { socket: NOTIFY_SOCKET || null, watchdogMs: limit > 0 ? limit : null };
};

/** Names without values, which may be secret. */
export const configuredSettingNames = (environment: Environment = process.env): string[] =>
  Object.keys(environment)
    .filter((name) => name.startsWith('ADJUTANT_') && environment[name] !== '')
    .sort();

/** Variables of the CLI and the desk, which share a shell with the daemon. */
const OTHERS = ['ADJUTANT_URL', 'ADJUTANT_TOKEN', 'ADJUTANT_BELL', 'ADJUTANT_ACCESSIBLE'];

/** A misspelled setting would have no effect without an error. */
const refuseUnknown = (environment: Environment): void => {
  const known = new Set(OTHERS);
  for (const [key, setting] of Object.entries<Setting<unknown>>(settings)) {
    known.add(toVariableName(key));
    if (setting.isSecret) known.add(`${toVariableName(key)}_FILE`);
  }
  const unknown = Object.keys(environment).find(
    (name) => name.startsWith('ADJUTANT_') && !known.has(name),
  );
  if (unknown)
    throw new BadSetting(
      `${unknown} is not a known setting. List all settings: adjutant help environment`,
    );
};
