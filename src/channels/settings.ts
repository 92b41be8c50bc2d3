import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import { unlessShut } from '../kernel/envelope.js';
import type { Platform, PlatformKind, PlatformSettings } from '../providers/chat/platform.js';
import { platforms } from '../providers/chat/platforms.js';
import type { Store } from '../store/store.js';
import { type PlatformRow, platformColumns } from '../store/tables/platforms.js';
import type { Vault } from '../vault/vault.js';

export interface SettingsDeps {
  store: Store;
  clock: Clock;
  vault: Pick<Vault, 'liveValues'>;
  /** Opens the secrets that were sealed for the platform of that kind. */
  unsealPlatform(kind: string, sealed: string): string;
}

/** The settings of the chat platforms, in memory for every inbound and outbound request. */
export interface PlatformSettingsCache {
  /** Reads all settings again, including everything that was committed before the call. */
  refresh(): Promise<void>;
  /** Returns the settings with the newest values, without expired ones; null if nothing is set. */
  of(kind: PlatformKind): PlatformSettings | null;
  /**
   * Returns the settings that may verify a request: the newest first, then one with each older
   * value that is in the overlap of a rotation, since a secret cannot be changed on both sides at
   * the same moment.
   */
  proving(kind: PlatformKind): PlatformSettings[];
  /** Sets the function that returns the address of the daemon. */
  reachedAt(origin: () => string): void;
  /** Returns the address for the requests of the platforms of an endpoint. */
  receiver(door: Platform['door']): string;
}

export const createSettings = (deps: SettingsDeps): PlatformSettingsCache => {
  let known = new Map<PlatformKind, LentSettings>();
  let reading = Promise.resolve();
  let origin = (): string => '';
  const read = async (): Promise<void> => {
    const rows = await deps.store.db.selectFrom('platforms').select(platformColumns).execute();
    const lent = await Promise.all(rows.map((row) => lend(deps, platformSettings(deps, row))));
    known = new Map(rows.flatMap(({ kind }, at) => (lent[at] ? [[kind, lent[at]]] : [])));
  };
  const proving = (kind: PlatformKind): PlatformSettings[] => {
    const lent = known.get(kind);
    return lent ? variants(lent, deps.clock.now()) : [];
  };
  return {
    refresh: () => {
      reading = reading.catch(() => undefined).then(read);
      return reading;
    },
    of: (kind) => proving(kind)[0] ?? null,
    proving,
    reachedAt: (given) => {
      origin = given;
    },
    receiver: (door) => `${origin().replace(/\/+$/, '')}/api/${door}-webhook`,
  };
};

interface LentSettings {
  /** Settings without secrets. */
  settings: PlatformSettings;
  /** Values of each secret by its name, the newest first. */
  values: [string, LentValue[]][];
}

interface LentValue {
  /** Value in a form that neither logs nor heap dumps show. */
  key: KeyObject;
  /** Milliseconds since 1970. */
  until: number;
  isOld: boolean;
}

/** Matches a secret that refers to a credential of the vault. */
const CREDENTIAL = /^\$credential\((credential_[0-9a-z]{26})\)$/;

export const credentialMark = (id: string): string => `$credential(${id})`;

/** Returns true if one of the stored secrets refers to that credential. */
const namesCredential = ({ secrets }: PlatformSettings, id: string): boolean =>
  Object.values(secrets).includes(credentialMark(id));

/**
 * Returns a function that checks if a stored platform takes one of its secrets from that
 * credential.
 */
export const platformUses =
  (deps: Pick<SettingsDeps, 'unsealPlatform'>) =>
  (row: PlatformRow, credentialId: string): boolean =>
    namesCredential(platformSettings(deps, row), credentialId);

/** Replaces references to credentials by their values. */
const lend = async ({ vault }: SettingsDeps, settings: PlatformSettings): Promise<LentSettings> => {
  const values: LentSettings['values'] = [];
  for (const [name, secret] of Object.entries(settings.secrets)) {
    const id = CREDENTIAL.exec(secret)?.[1];
    values.push([name, id === undefined ? [ownOf(secret)] : await liveOf(vault, id)]);
  }
  return { settings: { ...settings, secrets: {} }, values };
};

const ownOf = (secret: string): LentValue => ({
  key: createSecretKey(Buffer.from(secret)),
  until: Number.POSITIVE_INFINITY,
  isOld: false,
});

const liveOf = async (vault: SettingsDeps['vault'], id: string): Promise<LentValue[]> =>
  (await vault.liveValues(id)).map(({ secret, until, isOld }) => ({
    key: secret.take(createSecretKey),
    until: until ?? Number.POSITIVE_INFINITY,
    isOld,
  }));

/**
 * Lists the settings with the newest secrets, then one for each older value, since an adapter takes
 * one value of each secret.
 */
const variants = ({ settings, values }: LentSettings, now: number): PlatformSettings[] => {
  const live = values.map(([name, all]) => [name, all.filter(({ until }) => now < until)] as const);
  const pick = (isOld: boolean) =>
    live.flatMap(([name, all]) =>
      all
        .filter((one) => one.isOld === isOld)
        .map(({ key }): [string, string] => [name, key.export().toString()]),
    );
  const secrets = Object.fromEntries(pick(false));
  const older = pick(true).map(([name, value]) => ({ ...secrets, [name]: value }));
  return [secrets, ...older].map((each) => ({ ...settings, secrets: each }));
};

/**
 * Returns true if all fields are set that are needed to send there, or to verify what comes from
 * there.
 */
export const isSetTo = (
  what: 'send' | 'receive',
  { fields }: Platform,
  settings: PlatformSettings | null,
): boolean =>
  fields
    .filter(({ neededTo }) => neededTo?.includes(what))
    .every(({ name }) => settings?.secrets[name] || settings?.values[name]);

/** Reads the stored settings, in which a secret may refer to a credential. */
export const platformSettings = (
  { unsealPlatform }: Pick<SettingsDeps, 'unsealPlatform'>,
  row: PlatformRow,
): PlatformSettings => {
  const { kind, base_url, fields, secrets_sealed } = row;
  const usual = platforms.find((platform) => platform.kind === kind)?.baseUrl;
  return {
    baseUrl: base_url ?? usual ?? '',
    values: JSON.parse(fields),
    secrets: JSON.parse(unlessShut(() => unsealPlatform(kind, secrets_sealed ?? '')) ?? '{}'),
  };
};
