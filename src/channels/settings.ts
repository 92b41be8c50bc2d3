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
  /** Opens what was sealed for the platform of that kind. */
  unsealPlatform(kind: string, sealed: string): string;
}

/** What admins have set of the chat platforms, at hand for every request that comes or goes. */
export interface PlatformSettingsCache {
  /** Reads all of it anew; what was committed before the call is in it. */
  refresh(): Promise<void>;
  /** With the newest values; those that have expired are not set. null: nothing is set. */
  of(kind: PlatformKind): PlatformSettings | null;
  /**
   * What a request may be proven by: the same, then with each older value that stands in the
   * overlap of a rotation, since nobody changes a secret here and there at one moment.
   */
  proving(kind: PlatformKind): PlatformSettings[];
  /** Where the daemon is reached, from here on. */
  reachedAt(origin: () => string): void;
  /** Where the requests of platforms at that door arrive. */
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
  /** Without secrets. */
  settings: PlatformSettings;
  /** The values of each secret by its name, the newest first. */
  values: [string, LentValue[]][];
}

interface LentValue {
  /** The value, where neither prints nor dumps of the heap show it. */
  key: KeyObject;
  /** Milliseconds since 1970. */
  until: number;
  isOld: boolean;
}

/** A secret that stands for a credential of the vault. */
const CREDENTIAL = /^\$credential\((credential_[0-9a-z]{26})\)$/;

export const credentialMark = (id: string): string => `$credential(${id})`;

/** Whether one of the secrets, as they are kept, stands for that credential. */
const namesCredential = ({ secrets }: PlatformSettings, id: string): boolean =>
  Object.values(secrets).includes(credentialMark(id));

/** Tells whether a platform, as it is stored, takes one of its secrets from that credential. */
export const platformUses =
  (deps: Pick<SettingsDeps, 'unsealPlatform'>) =>
  (row: PlatformRow, credentialId: string): boolean =>
    namesCredential(platformSettings(deps, row), credentialId);

/** Puts values in the place of credentials. */
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

/** An adapter knows one value of each secret: one setting for each older value. */
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

/** Whether all is set that it takes to send there, or to believe what comes from there. */
export const isSetTo = (
  what: 'send' | 'receive',
  { fields }: Platform,
  settings: PlatformSettings | null,
): boolean =>
  fields
    .filter(({ neededTo }) => neededTo?.includes(what))
    .every(({ name }) => settings?.secrets[name] || settings?.values[name]);

/** As it is kept: a secret may stand for a credential. */
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
