import Boom from '@hapi/boom';
import type { Config } from '../../config.js';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { throwIfFaults } from '../../kernel/route.js';
import { getAddressHeader } from '../../providers/tunnels/providers.js';
import type { Store } from '../../store/store.js';
import type { TunnelRow } from '../../store/tables/tunnel.js';
import type { Vault } from '../../vault/module.js';
import type { ConfiguredTunnel, TunnelCheck, TunnelSettingsInput, TunnelView } from './contract.js';
import { findOpenings } from './exposure.js';
import { parseOrigin, tunnelFaults } from './rules.js';
import type { Tunnel } from './tunnel.js';

export interface TunnelServiceDeps {
  tunnel: Tunnel;
  store: Store;
  clock: Clock;
  config: Config;
  sealToken(id: string, token: string): string;
  vault: Vault;
}

export const viewTunnel = ({ tunnel, config }: TunnelServiceDeps): TunnelView => {
  const row = tunnel.row();
  const { url: _, ...process } = tunnel.process();
  const isFront = row?.provider === 'proxy' && row.is_on === 1;
  return {
    provider: row?.provider ?? null,
    ...(row && JSON.parse(row.settings)),
    publicUrl: tunnel.publicUrl(),
    publicUrlSetting: config.publicUrl !== null,
    address: tunnel.address(),
    reach: tunnel.reach(),
    tokenSet: row?.token_sealed !== null && row !== null,
    credentialId: row?.credential_id ?? null,
    on: row?.is_on === 1,
    ...process,
    ...(isFront && { status: 'running' as const, since: row.updated_at }),
    addressHeader: row && getAddressHeader(row.provider),
    upstream: tunnel.upstream(),
    check: tunnel.lastCheck(),
    log: tunnel.lines(),
  };
};

export const setTunnel = async (
  deps: TunnelServiceDeps,
  input: TunnelSettingsInput,
  by: Caller & Recorder,
): Promise<ConfiguredTunnel> => {
  const { tunnel, vault } = deps;
  throwIfFaults(tunnelFaults(input, deps.config.publicUrl));
  // A credential of another user counts as missing.
  if (input.credentialId && !(await vault.isOwn(by.userId, input.credentialId))) {
    throwIfFaults([{ path: 'credentialId', message: 'is not the ID of one of your credentials' }]);
  }
  const row = buildTunnelRow(deps, input);
  const { token, ...fields } = input;
  const data = { ...fields, ...(token !== undefined && { token: token ? 'given' : 'removed' }) };
  const before = tunnel.publicUrl();
  await tunnel.configure(row, [by.record({ target: row.provider, data })]);
  return { ...viewTunnel(deps), passkeysLost: await lostPasskeys(deps, before) };
};

export const switchTunnel = async (
  deps: TunnelServiceDeps,
  isOn: boolean,
  by: Recorder,
): Promise<TunnelView> => {
  const { tunnel } = deps;
  const provider = tunnel.row()?.provider;
  if (!provider) throw notSetUp();
  const recorded = by.record({ target: provider });
  if (!(await tunnel.change({ is_on: isOn ? 1 : 0 }, [recorded]))) throw notSetUp();
  return viewTunnel(deps);
};

export const forgetAddress = async (
  deps: TunnelServiceDeps,
  by: Recorder,
): Promise<ConfiguredTunnel> => {
  const { tunnel } = deps;
  if (deps.config.publicUrl !== null) {
    const how = 'Unset the variable, then restart the daemon';
    throw Boom.conflict(`ADJUTANT_PUBLIC_URL sets the address. ${how}`, {
      code: 'public_url_setting',
    });
  }
  const [before, address] = [tunnel.publicUrl(), tunnel.address()];
  const recorded = by.record({ target: address ?? 'none' });
  if (!(await tunnel.change({ public_url: null, is_on: 0 }, [recorded]))) throw notSetUp();
  return { ...viewTunnel(deps), passkeysLost: await lostPasskeys(deps, before) };
};

/** The audit entry is written first: a check that cannot be recorded is not run. */
export const checkTunnel = async (deps: TunnelServiceDeps, by: Recorder): Promise<TunnelCheck> => {
  const address = deps.tunnel.address();
  if (address === null) throw noAddress();
  await deps.store.transact([by.record({ target: address })]);
  const checked = await deps.tunnel.check(findOpenings(deps.config));
  if (checked === null) throw noAddress();
  return checked;
};

const buildTunnelRow = (
  { tunnel, clock, sealToken }: TunnelServiceDeps,
  input: TunnelSettingsInput,
): TunnelRow => {
  const { provider, publicUrl, token, credentialId, ...settings } = input;
  const before = tunnel.row();
  const kept = before?.provider === provider ? before : null;
  // A named tunnel does not use a token.
  const isNew = [token, credentialId, settings.name].some((value) => value !== undefined);
  const id = 'tunnel';
  return {
    id,
    provider,
    settings: JSON.stringify(settings),
    public_url: publicUrl ? parseOrigin(publicUrl) : null,
    token_sealed: isNew ? (token ? sealToken(id, token) : null) : (kept?.token_sealed ?? null),
    credential_id: isNew ? (credentialId ?? null) : (kept?.credential_id ?? null),
    is_on: before?.is_on ?? 0,
    process: null,
    updated_at: iso(clock.now()),
  };
};

/** Passkeys that a new address makes useless, since a passkey is bound to a host name. */
const lostPasskeys = async (
  { tunnel, store }: TunnelServiceDeps,
  before: string | null,
): Promise<ConfiguredTunnel['passkeysLost']> => {
  const after = tunnel.publicUrl();
  const [was, is] = [before, after].map((url) => url && new URL(url).hostname);
  if (!was || was === is || was === 'localhost') return [];
  return store.db
    .selectFrom('passkeys as p')
    .innerJoin('users as u', 'u.id', 'p.user_id')
    .select(['u.username', 'p.name', 'p.relying_party as relyingParty'])
    .where('p.relying_party', '=', was)
    .orderBy('p.id')
    .limit(1000)
    .execute();
};

const noAddress = (): Boom.Boom =>
  Boom.conflict(
    'The daemon has no public address. Set up a tunnel with PUT /api/tunnel, or start the tunnel with POST /api/tunnel/start',
    { code: 'tunnel_not_set_up' },
  );

const notSetUp = (): Boom.Boom =>
  Boom.conflict('No tunnel is set up. Configure it first with PUT /api/tunnel', {
    code: 'tunnel_not_set_up',
  });
