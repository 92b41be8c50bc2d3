import type { Clock } from '../../kernel/clock.js';
import type {
  Platform,
  PlatformKind,
  PlatformSettings,
} from '../../providers/channels/platform.js';
import { platforms } from '../../providers/channels/platforms.js';
import type { Store } from '../../store/store.js';
import type { PlatformRow } from '../../store/tables/platforms.js';
import type { Vault } from '../vault/vault.js';

export interface SettingsDeps {
  store: Store;
  clock: Clock;
  vault: Pick<Vault, 'newest' | 'termOf'>;
  /** Opens what was sealed for the platform of that kind. */
  unsealPlatform(kind: string, sealed: string): string;
}

/** What admins have set of the chat platforms, at hand for every request that comes or goes. */
export interface Settings {
  /** Reads all of it anew; what was committed before the call is in it. */
  refresh(): Promise<void>;
  /** null: nothing is set, or a credential that it needs has expired. */
  of(kind: PlatformKind): PlatformSettings | null;
  /** Where the daemon is reached, from here on. */
  reachedAt(origin: () => string): void;
  /** Where the requests of platforms at that door arrive. */
  receiver(door: Platform['door']): string;
}

export const createSettings = (deps: SettingsDeps): Settings => {
  let known = new Map<PlatformKind, Lent>();
  let reading = Promise.resolve();
  let origin = (): string => '';
  const read = async (): Promise<void> => {
    const rows = await deps.store.db.selectFrom('platforms').select(platformColumns).execute();
    const lent = await Promise.all(rows.map((row) => lend(deps, settingsOf(deps, row))));
    known = new Map(rows.flatMap(({ kind }, at) => (lent[at] ? [[kind, lent[at]]] : [])));
  };
  return {
    refresh: () => {
      reading = reading.catch(() => undefined).then(read);
      return reading;
    },
    of: (kind) => {
      const found = known.get(kind);
      return found && deps.clock.now() < found.until ? found.settings : null;
    },
    reachedAt: (given) => {
      origin = given;
    },
    receiver: (door) => `${origin().replace(/\/+$/, '')}/api/${door}-webhook`,
  };
};

interface Lent {
  settings: PlatformSettings;
  /** When the first of its credentials expires, in milliseconds since 1970. */
  until: number;
}

/** A secret that stands for a credential of the vault. */
const CREDENTIAL = /^\$credential\((credential_[0-9a-z]{26})\)$/;

export const credentialMark = (id: string): string => `$credential(${id})`;

/** Puts the newest values in the place of credentials; what is not to be had is not set. */
const lend = async ({ vault }: SettingsDeps, settings: PlatformSettings): Promise<Lent> => {
  const secrets: Record<string, string> = {};
  let until = Number.POSITIVE_INFINITY;
  for (const [name, secret] of Object.entries(settings.secrets)) {
    const id = CREDENTIAL.exec(secret)?.[1];
    const value = id === undefined ? secret : await vault.newest(id);
    if (value !== null) secrets[name] = value;
    const term = id === undefined ? null : await vault.termOf(id);
    if (term?.expiresAt) until = Math.min(until, Date.parse(term.expiresAt));
  }
  return { settings: { ...settings, secrets }, until };
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

export const platformColumns = [
  'kind',
  'base_url',
  'fields',
  'secrets_sealed',
  'updated_at',
] as const;

/** As it is kept: a secret may stand for a credential. */
export const settingsOf = (
  { unsealPlatform }: Pick<SettingsDeps, 'unsealPlatform'>,
  row: PlatformRow,
): PlatformSettings => {
  const { kind, base_url, fields, secrets_sealed } = row;
  const usual = platforms.find((platform) => platform.kind === kind)?.baseUrl;
  return {
    baseUrl: base_url ?? usual ?? '',
    values: JSON.parse(fields),
    secrets: secrets_sealed === null ? {} : JSON.parse(unsealPlatform(kind, secrets_sealed)),
  };
};
