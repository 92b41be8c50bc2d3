import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { faultOfHeaderValue } from '../../kernel/headervalue.js';
import type { Http } from '../../kernel/http.js';
import { orNotFound, throwIfFaults } from '../../kernel/route.js';
import type { OutboundPlatform as Adapter, PlatformCheck } from '../../providers/chat/platform.js';
import { outboundPlatforms } from '../../providers/chat/platforms.js';
import type { PlatformRow } from '../../store/tables/platforms.js';
import { retryUntilWritten } from '../../store/updateif.js';
import type { OpenedCredential, Vault } from '../../vault/module.js';
import {
  credentialMark,
  isConfiguredFor,
  type PlatformSettingsCache,
  platformSettings,
} from '../settings.js';
import type { Changes, PlatformReply } from './contract.js';
import type { PlatformsStore } from './queries.js';
import { credentialIn, platformFaults, platformFields } from './rules.js';

export interface PlatformsDeps {
  platforms: PlatformsStore;
  platformSettings: PlatformSettingsCache;
  http: Http;
  clock: Clock;
  vault: Pick<Vault, 'borrow'>;
  sealPlatform(kind: string, secrets: string): string;
  unsealPlatform(kind: string, sealed: string): string;
  publicUrl(): string | null;
}

export const findPlatformAdapter = (kind: string): Adapter => {
  return orNotFound(
    outboundPlatforms.find((one) => one.kind === kind),
    'Platform not found',
  );
};

/** A secret belongs to one target: another base URL or server requires all secrets again. */
export const updatePlatform = async (
  deps: PlatformsDeps,
  adapter: Adapter,
  wanted: Changes,
  by: Caller & Recorder,
): Promise<PlatformReply> => {
  throwIfFaults(platformFaults(adapter, wanted));
  const given = await withCredentials(deps, adapter, wanted, by.userId);
  await retryUntilWritten(async () => {
    const before = await deps.platforms.get(adapter.kind);
    const row = buildPlatformRow(deps, { adapter, before, given });
    const step = by.record({ target: adapter.kind, data: auditData(given) });
    return (await deps.platforms.replace(before, row, [step])) || null;
  });
  await deps.platformSettings.refresh();
  return view(deps, adapter, await deps.platforms.get(adapter.kind));
};

/** A secret can refer to a credential, as `$credential(slack-bot)`. Stored by its id. */
const withCredentials = async (
  { vault }: PlatformsDeps,
  { fields }: Adapter,
  input: Changes,
  userId: string,
): Promise<Changes> => {
  const changed: Record<string, unknown> = { ...input.values };
  for (const { name } of fields.filter(({ isSecret }) => isSecret)) {
    const value = changed[name];
    const credential = typeof value === 'string' ? credentialIn(value) : null;
    if (credential === null) continue;
    const borrowed = await vault.borrow(userId, { name: credential });
    const path = `values.${name}`;
    if (!isUnrestricted(borrowed)) {
      throwIfFaults([{ path, message: faultOfBorrowed(borrowed) }]);
      continue;
    }
    const fault = borrowed.secret.take((bytes) => faultOfHeaderValue(bytes.toString()));
    if (fault !== null) throwIfFaults([{ path, message: `refers to a value that ${fault}` }]);
    changed[name] = credentialMark(borrowed.id);
  }
  return { ...input, ...(input.values && { values: changed }) };
};

type BorrowedCredential = Awaited<ReturnType<PlatformsDeps['vault']['borrow']>>;

const isUnrestricted = (borrowed: BorrowedCredential): borrowed is OpenedCredential =>
  borrowed !== null &&
  typeof borrowed !== 'string' &&
  borrowed.allowedTools.length + borrowed.allowedHosts.length === 0;

const faultOfBorrowed = (borrowed: BorrowedCredential): string => {
  if (borrowed === null) return 'does not match any of your credentials';
  if (borrowed === 'expired') return 'refers to an expired credential';
  if (borrowed === 'damaged')
    return 'refers to a credential whose value is damaged. Rotate the credential';
  return 'refers to a credential that is restricted to certain tools or hosts';
};

/** Never their values. */
const auditData = (input: Changes): Record<string, unknown> => {
  const fields = [...platformFields(input)];
  const named = (isKept: boolean) =>
    fields.filter(([, value]) => (value !== null) === isKept).map(([name]) => name);
  const { baseUrl } = input;
  return { ...(baseUrl !== undefined && { baseUrl }), set: named(true), forgotten: named(false) };
};

interface PlatformChange {
  adapter: Adapter;
  before: PlatformRow | undefined;
  given: Changes;
}

const buildPlatformRow = (
  deps: PlatformsDeps,
  { adapter, before, given }: PlatformChange,
): PlatformRow => {
  const { kind } = adapter;
  const base_url =
    given.baseUrl === undefined ? (before?.base_url ?? null) : trimmed(given.baseUrl);
  const stored = before && platformSettings(deps, before);
  const isThere =
    toOrigin(base_url ?? adapter.baseUrl) === toOrigin(stored?.baseUrl ?? '') &&
    !isMoved(adapter, stored?.values ?? {}, platformFields(given));
  const all = new Map<string, string | null>([
    ...Object.entries(stored?.values ?? {}),
    ...(isThere ? Object.entries(stored?.secrets ?? {}) : []),
    ...platformFields(given),
  ]);
  const only = (isSecret: boolean): Record<string, string> =>
    Object.fromEntries(
      adapter.fields
        .filter((field) => field.isSecret === isSecret)
        .flatMap(({ name }) => {
          const value = all.get(name);
          return value == null ? [] : [[name, value]];
        }),
    );
  const at = Math.max(deps.clock.now(), Date.parse(before?.updated_at ?? '') + 1 || 0);
  return {
    kind,
    base_url,
    fields: JSON.stringify(only(false)),
    updated_at: iso(at),
    secrets_sealed: deps.sealPlatform(kind, JSON.stringify(only(true))),
  };
};

/** True if a field that determines the target of the secrets changes. */
const isMoved = (
  { fields }: Adapter,
  stored: Readonly<Record<string, string>>,
  input: Map<string, string | null>,
): boolean =>
  fields.some(
    ({ name, isPlace }) => isPlace && input.has(name) && input.get(name) !== (stored[name] ?? null),
  );

const trimmed = (baseUrl: string | null): string | null => baseUrl?.replace(/\/+$/, '') ?? null;
const toOrigin = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');

export const view = (
  deps: PlatformsDeps,
  adapter: Adapter,
  row: PlatformRow | undefined,
): PlatformReply => {
  const { kind, endpoint, fields, install } = adapter;
  const settings = deps.platformSettings.of(kind);
  const receiver = deps.platformSettings.receiver(endpoint);
  return {
    kind,
    baseUrl: settings?.baseUrl ?? adapter.baseUrl,
    isDefaultUrl: (row?.base_url ?? null) === null,
    fields: fields.map(({ name, doc, isSecret, requiredFor }) => {
      const value = settings?.values[name] ?? null;
      const isSet = value !== null || settings?.secrets[name] !== undefined;
      const isOptional = requiredFor === undefined;
      return { name, description: doc, isSecret, isSet, isOptional, value };
    }),
    sends: settings !== null && isConfiguredFor('send', adapter, settings),
    receives:
      receiver !== null && settings !== null && isConfiguredFor('receive', adapter, settings),
    installs: install !== undefined,
    receiver,
    setup: adapter.setup(receiver ?? ''),
    updatedAt: row?.updated_at ?? null,
  };
};

export const installPlatform = (
  deps: PlatformsDeps,
  adapter: Adapter,
  by: Caller,
): Promise<PlatformCheck> => {
  const { install, kind } = adapter;
  if (!install)
    throw Boom.conflict(
      `${kind} does not support automatic registration. Follow the setup steps of the platform instead`,
    );
  if (deps.publicUrl() === null) return Promise.resolve({ ok: false, error: UNREACHABLE });
  return askPlatform(deps, adapter, by, install);
};

const UNREACHABLE =
  'This daemon is not reachable from outside. Set up a public address first: adjutant tunnel setup';

export const askPlatform = (
  { platformSettings, http, clock }: PlatformsDeps,
  adapter: Adapter,
  { signal }: Caller,
  ask: (reach: Parameters<Adapter['check']>[0]) => Promise<PlatformCheck>,
): Promise<PlatformCheck> => {
  const settings = platformSettings.of(adapter.kind);
  const receiver = platformSettings.receiver(adapter.endpoint) ?? '';
  if (settings && isConfiguredFor('send', adapter, settings)) {
    return ask({ clock, http, settings, receiver, signal });
  }
  const needed = adapter.fields.filter(({ requiredFor }) => requiredFor?.includes('send'));
  const names = needed.map(({ name }) => name).join(', ') || 'a base URL';
  return Promise.resolve({
    ok: false,
    error: `${adapter.kind} is not configured. Required fields: ${names}`,
  });
};
