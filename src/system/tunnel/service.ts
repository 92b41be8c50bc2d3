import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { refuseFaults } from '../../kernel/route.js';
import { addressHeaderOf } from '../../providers/tunnels/providers.js';
import type { TunnelRow } from '../../store/tables/tunnel.js';
import type { Vault } from '../../vault/vault.js';
import type { TunnelCheck, TunnelSettingsInput, TunnelView } from './contract.js';
import type { TunnelStore } from './queries.js';
import { originOf, tunnelFaults } from './rules.js';
import type { ExposedOpening } from './step.js';
import type { Tunnel as RuntimeTunnel } from './tunnel.js';

export interface TunnelServiceDeps {
  tunnel: RuntimeTunnel;
  store: TunnelStore;
  clock: Clock;
  sealToken(id: string, token: string): string;
  vault: Pick<Vault, 'isOwn'>;
  /** The setting publicUrl. `folders` are searched for programs. */
  fixedUrl: string | null;
  folders: string[];
  /** Returns what the settings leave open to unauthenticated clients. */
  openings(): ExposedOpening[];
}

export const viewTunnel = ({ tunnel, fixedUrl }: TunnelServiceDeps): TunnelView => {
  const row = tunnel.row();
  const { url: _, ...process } = tunnel.process();
  const isFront = row?.provider === 'proxy' && row.is_on === 1;
  return {
    provider: row?.provider ?? null,
    ...(row && JSON.parse(row.settings)),
    publicUrl: tunnel.publicUrl(),
    publicUrlSetting: fixedUrl !== null,
    address: tunnel.address(),
    reach: tunnel.reach(),
    tokenSet: row?.token_sealed !== null && row !== null,
    credentialId: row?.credential_id ?? null,
    on: row?.is_on === 1,
    ...process,
    ...(isFront && { status: 'running' as const, since: row.updated_at }),
    addressHeader: row && addressHeaderOf(row.provider),
    upstream: tunnel.upstream(),
    check: tunnel.lastCheck(),
    log: tunnel.lines(),
  };
};

export const setTunnel = async (
  deps: TunnelServiceDeps,
  given: TunnelSettingsInput,
  by: Caller & Recorder,
): Promise<TunnelView & Pick<Lost, 'passkeysLost'>> => {
  const { tunnel, fixedUrl } = deps;
  refuseFaults(tunnelFaults(given, fixedUrl));
  await checkCredential(deps, given, by);
  const row = rowOf(deps, given);
  const { token, ...told } = given;
  const data = { ...told, ...(token !== undefined && { token: token ? 'given' : 'removed' }) };
  const before = tunnel.publicUrl();
  await tunnel.configure(row, [by.record({ target: row.provider, data })]);
  return { ...viewTunnel(deps), ...(await lostPasskeys(deps, before)) };
};

export const switchTunnel = async (
  deps: TunnelServiceDeps,
  isOn: boolean,
  by: Recorder,
): Promise<TunnelView> => {
  const provider = deps.tunnel.row()?.provider;
  const isDone = provider && (await deps.tunnel.turn(isOn, [by.record({ target: provider })]));
  if (!isDone) throw notSetUp();
  return viewTunnel(deps);
};

export const forgetAddress = async (
  deps: TunnelServiceDeps,
  by: Recorder,
): Promise<TunnelView & Pick<Lost, 'passkeysLost'>> => {
  const { tunnel, fixedUrl } = deps;
  if (fixedUrl !== null) {
    const how = 'Unset ADJUTANT_PUBLIC_URL, then restart the daemon';
    throw Boom.conflict(`A setting says the address. ${how}`, { code: 'public_url_setting' });
  }
  const [before, address] = [tunnel.publicUrl(), tunnel.address()];
  const isDone = await tunnel.forgetAddress([by.record({ target: address ?? 'none' })]);
  if (!isDone) throw notSetUp();
  return { ...viewTunnel(deps), ...(await lostPasskeys(deps, before)) };
};

/**
 * Runs the check. The audit entry is written before anything is sent: a check that cannot be
 * recorded does not happen.
 */
export const checkTunnel = async (deps: TunnelServiceDeps, by: Recorder): Promise<TunnelCheck> => {
  const address = deps.tunnel.address();
  if (address === null) throw notSetUp();
  await deps.store.write([by.record({ target: address })]);
  const checked = await deps.tunnel.check(deps.openings());
  if (checked === null) throw notSetUp();
  return checked;
};

const rowOf = (
  { tunnel, clock, sealToken }: TunnelServiceDeps,
  given: TunnelSettingsInput,
): TunnelRow => {
  const { provider, publicUrl, token, credentialId, ...settings } = given;
  const before = tunnel.row();
  const kept = before?.provider === provider ? before : null;
  // A tunnel that is given by its name logs in without a token.
  const isNew = [token, credentialId, settings.name].some((given) => given !== undefined);
  const id = 'tunnel';
  return {
    ...{ id, provider, settings: JSON.stringify(settings) },
    public_url: publicUrl ? originOf(publicUrl) : null,
    token_sealed: isNew ? (token ? sealToken(id, token) : null) : (kept?.token_sealed ?? null),
    credential_id: isNew ? (credentialId ?? null) : (kept?.credential_id ?? null),
    is_on: before?.is_on ?? 0,
    process: null,
    updated_at: iso(clock.now()),
  };
};

/**
 * Replies with 400 if the caller has no such credential; another user's credential counts as none.
 */
const checkCredential = async (
  { vault }: TunnelServiceDeps,
  { credentialId }: TunnelSettingsInput,
  by: Caller,
): Promise<void> => {
  if (!credentialId || (await vault.isOwn(by.userId, credentialId))) return;
  refuseFaults([{ path: 'credentialId', message: 'names no credential of yours' }]);
};

interface Lost {
  passkeysLost: { username: string; name: string; relyingParty: string }[];
}

/**
 * Lists the passkeys that a new address makes useless, since a passkey is bound to the name under
 * which it was made.
 */
const lostPasskeys = async (
  { tunnel, store }: TunnelServiceDeps,
  before: string | null,
): Promise<Lost> => {
  const after = tunnel.publicUrl();
  const [was, is] = [before, after].map((url) => url && new URL(url).hostname);
  if (!was || was === is || was === 'localhost') return { passkeysLost: [] };
  return { passkeysLost: await store.passkeysOf(was) };
};

const notSetUp = (): Boom.Boom =>
  Boom.conflict('No tunnel is set up. Say how others reach this daemon first: PUT /api/tunnel', {
    code: 'tunnel_not_set_up',
  });
