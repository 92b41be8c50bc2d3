import { createSecretKey } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import { unsealOrNull } from '../kernel/envelope.js';
import type {
  OutboundPlatform,
  PlatformKind,
  PlatformSettings,
} from '../providers/chat/platform.js';
import { outboundPlatforms } from '../providers/chat/platforms.js';
import type { VerifyingKey } from '../secrets/module.js';
import type { Store } from '../store/store.js';
import { type PlatformRow, platformTable } from '../store/tables/platforms.js';
import type { Vault } from '../vault/module.js';

interface PlatformSealer {
  unsealPlatform(kind: string, sealed: string): string;
}

export interface SettingsDeps extends PlatformSealer {
  store: Store;
  clock: Clock;
  vault: Pick<Vault, 'liveValues'>;
}

export const createSettings = (deps: SettingsDeps) => {
  let known = new Map<PlatformKind, ResolvedSettings>();
  let reading = Promise.resolve();
  let origin = (): string => '';
  const read = async (): Promise<void> => {
    const rows = await deps.store.db
      .selectFrom('platforms')
      .select(platformTable.columns)
      .execute();
    const resolved = rows.map(
      async (row): Promise<[PlatformKind, ResolvedSettings]> => [
        row.kind,
        await resolve(deps, platformSettings(deps, row)),
      ],
    );
    known = new Map(await Promise.all(resolved));
  };
  /**
   * The newest secrets first, then one per older value in the overlap of a rotation, since both
   * sides cannot change a secret at the same moment.
   */
  const proving = (kind: PlatformKind): PlatformSettings[] => {
    const resolved = known.get(kind);
    return resolved ? variants(resolved, deps.clock.now()) : [];
  };
  return {
    /** Includes everything committed before the call. */
    refresh: (): Promise<void> => {
      reading = reading.catch(() => undefined).then(read);
      return reading;
    },
    /** Newest values without expired ones; null if nothing is set. */
    of: (kind: PlatformKind): PlatformSettings | null => proving(kind)[0] ?? null,
    proving,
    reachedAt: (getOrigin: () => string): void => {
      origin = getOrigin;
    },
    /** null: the platform sends no requests. */
    receiver: (endpoint: OutboundPlatform['endpoint']): string | null =>
      endpoint === undefined ? null : `${origin().replace(/\/+$/, '')}/api/${endpoint}-webhook`,
  };
};

export type PlatformSettingsCache = ReturnType<typeof createSettings>;

interface ResolvedSettings {
  settings: PlatformSettings;
  /** Newest first, in a form that no log or heap dump shows. */
  values: [string, VerifyingKey[]][];
}

const CREDENTIAL = /^\$credential\((credential_[0-9a-z]{26})\)$/;

export const credentialMark = (id: string): string => `$credential(${id})`;

export const platformUses =
  (deps: PlatformSealer) =>
  (row: PlatformRow, credentialId: string): boolean =>
    Object.values(platformSettings(deps, row).secrets).includes(credentialMark(credentialId));

const resolve = async (
  { vault }: SettingsDeps,
  settings: PlatformSettings,
): Promise<ResolvedSettings> => {
  const values: ResolvedSettings['values'] = [];
  for (const [name, secret] of Object.entries(settings.secrets)) {
    const id = CREDENTIAL.exec(secret)?.[1];
    const own = { key: createSecretKey(Buffer.from(secret)), until: null, isOld: false };
    values.push([name, id === undefined ? [own] : await liveKeys(vault, id)]);
  }
  return { settings: { ...settings, secrets: {} }, values };
};

const liveKeys = async (vault: SettingsDeps['vault'], id: string): Promise<VerifyingKey[]> =>
  (await vault.liveValues(id)).map(({ secret, until, isOld }) => ({
    key: secret.take(createSecretKey),
    until,
    isOld,
  }));

/** Newest secrets first, then one per older value. */
const variants = ({ settings, values }: ResolvedSettings, now: number): PlatformSettings[] => {
  const isLive = ({ until }: VerifyingKey) => until === null || now < until;
  const live = values.map(([name, all]) => [name, all.filter(isLive)] as const);
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

export const isConfiguredFor = (
  what: 'send' | 'receive',
  { fields }: OutboundPlatform,
  settings: PlatformSettings | null,
): boolean =>
  fields
    .filter(({ requiredFor }) => requiredFor?.includes(what))
    .every(({ name }) => settings?.secrets[name] || settings?.values[name]);

export const platformSettings = (
  { unsealPlatform }: PlatformSealer,
  row: PlatformRow,
): PlatformSettings => {
  const { kind, base_url, fields, secrets_sealed } = row;
  const usual = outboundPlatforms.find((platform) => platform.kind === kind)?.baseUrl;
  return {
    baseUrl: base_url ?? usual ?? '',
    values: JSON.parse(fields),
    secrets: JSON.parse(unsealOrNull(() => unsealPlatform(kind, secrets_sealed ?? '')) ?? '{}'),
  };
};
