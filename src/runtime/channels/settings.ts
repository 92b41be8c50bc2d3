import type {
  Platform,
  PlatformKind,
  PlatformSettings,
} from '../../providers/channels/platform.js';
import { platforms } from '../../providers/channels/platforms.js';
import type { Store } from '../../store/store.js';
import type { PlatformRow } from '../../store/tables/platforms.js';

export interface SettingsDeps {
  store: Store;
  /** Opens what was sealed for the platform of that kind. */
  unsealPlatform(kind: string, sealed: string): string;
}

/** What admins have set of the chat platforms, at hand for every request that comes or goes. */
export interface Settings {
  /** Reads all of it anew; what was committed before the call is in it. */
  refresh(): Promise<void>;
  /** null: nothing is set. */
  of(kind: PlatformKind): PlatformSettings | null;
}

export const createSettings = (deps: SettingsDeps): Settings => {
  let known = new Map<PlatformKind, PlatformSettings>();
  let reading = Promise.resolve();
  const read = async (): Promise<void> => {
    const rows = await deps.store.db.selectFrom('platforms').select(platformColumns).execute();
    known = new Map(rows.map((row) => [row.kind, settingsOf(deps, row)]));
  };
  return {
    refresh: () => {
      reading = reading.catch(() => undefined).then(read);
      return reading;
    },
    of: (kind) => known.get(kind) ?? null,
  };
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
